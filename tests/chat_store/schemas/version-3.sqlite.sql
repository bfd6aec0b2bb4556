BEGIN TRANSACTION;
CREATE TABLE qiusuo_branches (
	session_id VARCHAR(200) NOT NULL, 
	origin_id VARCHAR(200) NOT NULL, 
	turn_id VARCHAR(200) NOT NULL, 
	created_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (session_id), 
	FOREIGN KEY(session_id) REFERENCES qiusuo_sessions (id) ON DELETE CASCADE, 
	FOREIGN KEY(origin_id) REFERENCES qiusuo_sessions (id) ON DELETE CASCADE
);
INSERT INTO "qiusuo_branches" VALUES('Mrb0nVgme8vTLMQ0','FbUSCfiF71PSU9Wn','EtZ1eIuRV8AqpUpc','2026-09-21T14:13:20.000+00:00');
CREATE TABLE qiusuo_feedback (
	session_id VARCHAR(200) NOT NULL, 
	turn_id VARCHAR(200) NOT NULL, 
	verdict VARCHAR(20) NOT NULL, 
	reasons JSON NOT NULL, 
	text TEXT NOT NULL, 
	created_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (session_id, turn_id), 
	FOREIGN KEY(session_id, turn_id) REFERENCES qiusuo_turns (session_id, id) ON DELETE CASCADE
);
INSERT INTO "qiusuo_feedback" VALUES('FbUSCfiF71PSU9Wn','KmxVe-i5h0zzTQg8','bad','["wrong"]','too short','2026-09-21T14:13:20.000+00:00');
CREATE TABLE qiusuo_files (
	session_id VARCHAR(200) NOT NULL, 
	id VARCHAR(200) NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	size INTEGER NOT NULL, 
	pages INTEGER NOT NULL, 
	chars INTEGER NOT NULL, 
	cut BOOLEAN NOT NULL, 
	asked INTEGER NOT NULL, 
	added_at VARCHAR(40) NOT NULL, 
	parts JSON NOT NULL, 
	PRIMARY KEY (session_id, id), 
	FOREIGN KEY(session_id) REFERENCES qiusuo_sessions (id) ON DELETE CASCADE
);
INSERT INTO "qiusuo_files" VALUES('FbUSCfiF71PSU9Wn','f1',0,'notes.txt','text',5,1,5,0,2,'2026-09-21T14:13:20.000+00:00','[{"text":"hello","page":1,"heading":"","line":0}]');
CREATE TABLE qiusuo_holders (
	id VARCHAR(200) NOT NULL, 
	alive_at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE qiusuo_pieces (
	session_id VARCHAR(200) NOT NULL, 
	turn_id VARCHAR(200) NOT NULL, 
	number INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (session_id, turn_id, number), 
	FOREIGN KEY(session_id, turn_id) REFERENCES qiusuo_turns (session_id, id) ON DELETE CASCADE
);
CREATE TABLE qiusuo_schema (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "qiusuo_schema" VALUES(3);
CREATE TABLE qiusuo_sessions (
	id VARCHAR(200) NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	title TEXT NOT NULL, 
	title_words TEXT NOT NULL, 
	settings JSON NOT NULL, 
	memory JSON NOT NULL, 
	created_at VARCHAR(40) NOT NULL, 
	updated_at VARCHAR(40) NOT NULL, 
	running VARCHAR(200), 
	alive_at DOUBLE, 
	holder VARCHAR(200), 
	PRIMARY KEY (id)
);
INSERT INTO "qiusuo_sessions" VALUES('FbUSCfiF71PSU9Wn','ada','Tea 茶','tea 茶','{"mode":"chat","search":false,"engine":null,"results":5,"depth":null,"model":null,"focus":"web","sites":[],"freshness":null,"switch":"off","note":""}','{"messages":[{"type":"human","content":"What is tea?"},{"type":"ai","content":"A plant."},{"type":"human","content":"And 茶?"},{"type":"ai","content":"The same."}],"starts":{"KmxVe-i5h0zzTQg8":0,"EtZ1eIuRV8AqpUpc":2},"numbering":"conversation","registry":{"sources":[],"rounds":[]},"cache":[],"said":[]}','2026-09-21T14:13:20.000+00:00','2026-09-21T14:13:20.000+00:00',NULL,NULL,NULL);
INSERT INTO "qiusuo_sessions" VALUES('Mrb0nVgme8vTLMQ0','ada','','','{"mode":"chat","search":false,"engine":null,"results":5,"depth":null,"model":null,"focus":"web","sites":[],"freshness":null,"switch":"off","note":""}','{"messages":[{"type":"human","content":"What is tea?"},{"type":"ai","content":"A plant."}],"starts":{"KmxVe-i5h0zzTQg8":0},"numbering":"conversation","registry":{"sources":[],"rounds":[]},"cache":[],"said":[]}','2026-09-21T14:13:20.000+00:00','2026-09-21T14:13:20.000+00:00',NULL,NULL,NULL);
CREATE TABLE qiusuo_shares (
	id VARCHAR(200) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	session_id VARCHAR(200) NOT NULL, 
	snapshot JSON NOT NULL, 
	title TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	ends_at DOUBLE, 
	PRIMARY KEY (id), 
	UNIQUE (digest), 
	FOREIGN KEY(session_id) REFERENCES qiusuo_sessions (id) ON DELETE CASCADE
);
INSERT INTO "qiusuo_shares" VALUES('X1jd5e6e74uX','8aeda5d8aad8d09844776ab60b9dd9580666573f49459863ae1193c4e89c1687','ada','FbUSCfiF71PSU9Wn','[{"question":"What is tea?","answer":"A plant.","cited":[],"sources":[],"createdAt":"2026-11-15","state":"done","language":"en"}]','Tea 茶',1790000000.0,NULL);
CREATE TABLE qiusuo_turns (
	session_id VARCHAR(200) NOT NULL, 
	id VARCHAR(200) NOT NULL, 
	position INTEGER NOT NULL, 
	words TEXT NOT NULL, 
	record JSON NOT NULL, 
	PRIMARY KEY (session_id, id), 
	FOREIGN KEY(session_id) REFERENCES qiusuo_sessions (id) ON DELETE CASCADE
);
INSERT INTO "qiusuo_turns" VALUES('FbUSCfiF71PSU9Wn','KmxVe-i5h0zzTQg8',0,'what is tea?
a plant.','{"id":"KmxVe-i5h0zzTQg8","question":"What is tea?","mode":"chat","model":"","search":false,"createdAt":"2026-11-15T00:00:00.000+00:00","state":"done","stage":null,"answer":"A plant.","references":"","cited":[],"finish":"","rounds":[],"sources":[],"readings":[],"notices":[],"check":null,"usage":null,"language":"en","research":null,"scope":null,"kept":null,"related":[],"called":""}');
INSERT INTO "qiusuo_turns" VALUES('FbUSCfiF71PSU9Wn','EtZ1eIuRV8AqpUpc',1,'and 茶?
the same.','{"id":"EtZ1eIuRV8AqpUpc","question":"And 茶?","mode":"chat","model":"","search":false,"createdAt":"2026-11-15T00:00:00.000+00:00","state":"done","stage":null,"answer":"The same.","references":"","cited":[],"finish":"","rounds":[],"sources":[],"readings":[],"notices":[],"check":null,"usage":null,"language":"zh","research":null,"scope":null,"kept":null,"related":[],"called":""}');
INSERT INTO "qiusuo_turns" VALUES('Mrb0nVgme8vTLMQ0','KmxVe-i5h0zzTQg8',0,'what is tea?
a plant.','{"id":"KmxVe-i5h0zzTQg8","question":"What is tea?","mode":"chat","model":"","search":false,"createdAt":"2026-11-15T00:00:00.000+00:00","state":"done","stage":null,"answer":"A plant.","references":"","cited":[],"finish":"","rounds":[],"sources":[],"readings":[],"notices":[],"check":null,"usage":null,"language":"en","research":null,"scope":null,"kept":null,"related":[],"called":""}');
CREATE TABLE qiusuo_usage (
	span INTEGER NOT NULL, 
	bucket BIGINT NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	outcome VARCHAR(40) NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	n BIGINT NOT NULL, 
	saved BIGINT NOT NULL, 
	tokens_in BIGINT NOT NULL, 
	tokens_out BIGINT NOT NULL, 
	h00 BIGINT NOT NULL, 
	h01 BIGINT NOT NULL, 
	h02 BIGINT NOT NULL, 
	h03 BIGINT NOT NULL, 
	h04 BIGINT NOT NULL, 
	h05 BIGINT NOT NULL, 
	h06 BIGINT NOT NULL, 
	h07 BIGINT NOT NULL, 
	h08 BIGINT NOT NULL, 
	h09 BIGINT NOT NULL, 
	h10 BIGINT NOT NULL, 
	h11 BIGINT NOT NULL, 
	h12 BIGINT NOT NULL, 
	h13 BIGINT NOT NULL, 
	h14 BIGINT NOT NULL, 
	h15 BIGINT NOT NULL, 
	h16 BIGINT NOT NULL, 
	h17 BIGINT NOT NULL, 
	h18 BIGINT NOT NULL, 
	h19 BIGINT NOT NULL, 
	h20 BIGINT NOT NULL, 
	PRIMARY KEY (span, bucket, kind, name, outcome, owner)
);
INSERT INTO "qiusuo_usage" VALUES(3600,1789999200,'search','brave','ok','ada',1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1);
CREATE TABLE qiusuo_usage_queries (
	bucket BIGINT NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	"query" TEXT NOT NULL, 
	n BIGINT NOT NULL, 
	ms BIGINT NOT NULL, 
	outcome VARCHAR(40) NOT NULL, 
	PRIMARY KEY (bucket, kind, "query")
);
INSERT INTO "qiusuo_usage_queries" VALUES(1789948800,'slow','tea',1,900,'ok');
CREATE TABLE qiusuo_usage_writers (
	id VARCHAR(200) NOT NULL, 
	batch BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "qiusuo_usage_writers" VALUES('TrQCl0w9wgEmVrKL',1,1790000000);
CREATE INDEX qiusuo_sessions_held ON qiusuo_sessions (holder, running);
CREATE INDEX qiusuo_sessions_of_owner ON qiusuo_sessions (owner, updated_at);
CREATE UNIQUE INDEX qiusuo_turns_in_order ON qiusuo_turns (session_id, position);
CREATE INDEX qiusuo_shares_of_owner ON qiusuo_shares (owner);
CREATE INDEX qiusuo_shares_of_session ON qiusuo_shares (session_id);
CREATE INDEX qiusuo_branches_of_origin ON qiusuo_branches (origin_id);
CREATE INDEX qiusuo_feedback_by_time ON qiusuo_feedback (created_at);
CREATE INDEX qiusuo_usage_in_time ON qiusuo_usage (bucket);
COMMIT;
