# 🚀
名前 = "naïve café"
