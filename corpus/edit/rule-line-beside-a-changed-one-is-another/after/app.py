import os
from app.repo import Repo, NotFound
from app.version import check
