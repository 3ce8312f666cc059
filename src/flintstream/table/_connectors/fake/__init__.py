"""Fake values from the expressions of Java Faker, such as ``#{Name.fullName}``."""
