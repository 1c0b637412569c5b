text = '''x  
'''
