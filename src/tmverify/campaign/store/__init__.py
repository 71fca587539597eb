"""The store of a campaign: one SQLite file with the tasks that were asked and the answers so far.

::

    store    Store: writes plans and answers, says which tasks are due, and reads all rows
    file     opens the file, for one writer and any number of readers
    tables   the tables, and how Python values are kept in them
    belief   decides which answers are possible for their questions; others are not believed
"""

from tmverify.campaign.store.store import NOT_BELIEVED, Store
from tmverify.campaign.store.tables import StoredModel

__all__ = ["NOT_BELIEVED", "Store", "StoredModel"]
