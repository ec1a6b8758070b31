import gzip,json,glob,subprocess,sys,os,copy,collections
H=sys.argv[1]
def changed(base, change):
    text=copy.deepcopy(base)
    for path,value in change.items():
        for one in value if path=="-" else [path]:
            *scope,leaf=one.split("."); at=text
            for n in scope: at=at.setdefault(n,{})
            if path=="-": at.pop(leaf,None)
            else: at[leaf]=value
    return text
os.makedirs("/tmp/variants",exist_ok=True)
bad=0;tot=0
for f in sorted(glob.glob("tests/oracle/data/variants/*.gz")):
    d=json.load(gzip.open(f)); name=os.path.basename(f)[:-8]
    cases=[({}, {})]+[(c,o) for c,o in d["variants"]]
    paths=[]
    for i,(c,o) in enumerate(cases):
        p=f"/tmp/variants/{name}_{i}.json"; json.dump(changed(d["base"],c),open(p,"w")); paths.append(p)
    for i,(c,o) in enumerate(cases):
        r=subprocess.run([H,"params",paths[i],"--format","json"],capture_output=True,text=True)
        want=dict(d["outcome"],**o); tot+=1
        if r.returncode: print(name,i-1,json.dumps(c)[:150],"REFUSED",r.stderr.strip()[-160:]); bad+=1; continue
        got=json.loads(r.stdout)[0]["parameters"]
        if got!=want["total"]: print(name,i-1,json.dumps(c)[:200],"total",got,want["total"]); bad+=1
print(tot,bad)
