import os
from app.repo import Repo
from app.version import check
