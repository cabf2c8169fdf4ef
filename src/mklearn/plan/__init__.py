"""The fits of a study, and the inputs that each is made from."""
