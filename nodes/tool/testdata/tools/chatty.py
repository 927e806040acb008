print("starting up")
print('{"edge_output": 1}')
