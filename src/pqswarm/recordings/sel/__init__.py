"""Event reports of SEL relays (``.cev``, ``.eve``)."""
