"""What Tablecast is made of: a bill of materials, and whether anything of it is known to be vulnerable."""
