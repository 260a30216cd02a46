"""Tables and figures that chess and Go share."""
