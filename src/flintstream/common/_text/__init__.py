"""What people read: Java's text form of values, notebooks, watermarks, and settings without their secrets."""
