"""The store of a campaign: one SQLite file with what was asked and what is known.

::

    store    Store: what is asked, what is due, what is kept, and the rows of all that
    file     who may open the file, and how: one writer, any number of readers
    tables   its tables, and what Python values they hold
    belief   which answers their questions could have written; others are not believed
"""

from tmverify.campaign.store.store import NOT_BELIEVED, Store
from tmverify.campaign.store.tables import StoredModel

__all__ = ["NOT_BELIEVED", "Store", "StoredModel"]
