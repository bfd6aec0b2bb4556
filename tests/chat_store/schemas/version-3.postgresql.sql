CREATE TABLE public.qiusuo_branches (
    session_id character varying(200) NOT NULL,
    origin_id character varying(200) NOT NULL,
    turn_id character varying(200) NOT NULL,
    created_at character varying(40) NOT NULL
);
CREATE TABLE public.qiusuo_feedback (
    session_id character varying(200) NOT NULL,
    turn_id character varying(200) NOT NULL,
    verdict character varying(20) NOT NULL,
    reasons json NOT NULL,
    text text NOT NULL,
    created_at character varying(40) NOT NULL
);
CREATE TABLE public.qiusuo_files (
    session_id character varying(200) NOT NULL,
    id character varying(200) NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    kind character varying(20) NOT NULL,
    size integer NOT NULL,
    pages integer NOT NULL,
    chars integer NOT NULL,
    cut boolean NOT NULL,
    asked integer NOT NULL,
    added_at character varying(40) NOT NULL,
    parts json NOT NULL
);
CREATE TABLE public.qiusuo_holders (
    id character varying(200) NOT NULL,
    alive_at double precision NOT NULL
);
CREATE TABLE public.qiusuo_pieces (
    session_id character varying(200) NOT NULL,
    turn_id character varying(200) NOT NULL,
    number integer NOT NULL,
    start integer NOT NULL,
    text text NOT NULL
);
CREATE TABLE public.qiusuo_schema (
    version integer NOT NULL
);
CREATE TABLE public.qiusuo_sessions (
    id character varying(200) NOT NULL,
    owner character varying(200) NOT NULL,
    title text NOT NULL,
    title_words text NOT NULL,
    settings json NOT NULL,
    memory json NOT NULL,
    created_at character varying(40) NOT NULL,
    updated_at character varying(40) NOT NULL,
    running character varying(200),
    alive_at double precision,
    holder character varying(200)
);
CREATE TABLE public.qiusuo_shares (
    id character varying(200) NOT NULL,
    digest character varying(64) NOT NULL,
    owner character varying(200) NOT NULL,
    session_id character varying(200) NOT NULL,
    snapshot json NOT NULL,
    title text NOT NULL,
    created_at double precision NOT NULL,
    ends_at double precision
);
CREATE TABLE public.qiusuo_turns (
    session_id character varying(200) NOT NULL,
    id character varying(200) NOT NULL,
    "position" integer NOT NULL,
    words text NOT NULL,
    record json NOT NULL
);
CREATE TABLE public.qiusuo_usage (
    span integer NOT NULL,
    bucket bigint NOT NULL,
    kind character varying(20) NOT NULL,
    name character varying(200) NOT NULL,
    outcome character varying(40) NOT NULL,
    owner character varying(200) NOT NULL,
    n bigint NOT NULL,
    saved bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    h00 bigint NOT NULL,
    h01 bigint NOT NULL,
    h02 bigint NOT NULL,
    h03 bigint NOT NULL,
    h04 bigint NOT NULL,
    h05 bigint NOT NULL,
    h06 bigint NOT NULL,
    h07 bigint NOT NULL,
    h08 bigint NOT NULL,
    h09 bigint NOT NULL,
    h10 bigint NOT NULL,
    h11 bigint NOT NULL,
    h12 bigint NOT NULL,
    h13 bigint NOT NULL,
    h14 bigint NOT NULL,
    h15 bigint NOT NULL,
    h16 bigint NOT NULL,
    h17 bigint NOT NULL,
    h18 bigint NOT NULL,
    h19 bigint NOT NULL,
    h20 bigint NOT NULL
);
CREATE TABLE public.qiusuo_usage_queries (
    bucket bigint NOT NULL,
    kind character varying(20) NOT NULL,
    query text NOT NULL,
    n bigint NOT NULL,
    ms bigint NOT NULL,
    outcome character varying(40) NOT NULL
);
CREATE TABLE public.qiusuo_usage_writers (
    id character varying(200) NOT NULL,
    batch bigint NOT NULL,
    at bigint NOT NULL
);
INSERT INTO public.qiusuo_branches VALUES ('ReMXTkE5LO0UBTKv', 'fKsPV4lBoo-F83rl', 'T6MqWWVdgolkEF63', '2026-09-21T14:13:20.000+00:00');
INSERT INTO public.qiusuo_feedback VALUES ('fKsPV4lBoo-F83rl', 'MzLffAfwe1zSHaIq', 'bad', '["wrong"]', 'too short', '2026-09-21T14:13:20.000+00:00');
INSERT INTO public.qiusuo_files VALUES ('fKsPV4lBoo-F83rl', 'f1', 0, 'notes.txt', 'text', 5, 1, 5, false, 2, '2026-09-21T14:13:20.000+00:00', '[{"text":"hello","page":1,"heading":"","line":0}]');
INSERT INTO public.qiusuo_schema VALUES (3);
INSERT INTO public.qiusuo_sessions VALUES ('ReMXTkE5LO0UBTKv', 'ada', '', '', '{"mode":"chat","search":false,"engine":null,"results":5,"depth":null,"model":null,"focus":"web","sites":[],"freshness":null,"switch":"off","note":""}', '{"messages":[{"type":"human","content":"What is tea?"},{"type":"ai","content":"A plant."}],"starts":{"MzLffAfwe1zSHaIq":0},"numbering":"conversation","registry":{"sources":[],"rounds":[]},"cache":[],"said":[]}', '2026-09-21T14:13:20.000+00:00', '2026-09-21T14:13:20.000+00:00', NULL, NULL, NULL);
INSERT INTO public.qiusuo_sessions VALUES ('fKsPV4lBoo-F83rl', 'ada', 'Tea 茶', 'tea 茶', '{"mode":"chat","search":false,"engine":null,"results":5,"depth":null,"model":null,"focus":"web","sites":[],"freshness":null,"switch":"off","note":""}', '{"messages":[{"type":"human","content":"What is tea?"},{"type":"ai","content":"A plant."},{"type":"human","content":"And 茶?"},{"type":"ai","content":"The same."}],"starts":{"MzLffAfwe1zSHaIq":0,"T6MqWWVdgolkEF63":2},"numbering":"conversation","registry":{"sources":[],"rounds":[]},"cache":[],"said":[]}', '2026-09-21T14:13:20.000+00:00', '2026-09-21T14:13:20.000+00:00', NULL, NULL, NULL);
INSERT INTO public.qiusuo_shares VALUES ('5VgeC5BxTpbG', 'c2c7d98fa16f085e523526b090d618c60476e570dc8bdc86a1fa66f4381cbc19', 'ada', 'fKsPV4lBoo-F83rl', '[{"question":"What is tea?","answer":"A plant.","cited":[],"sources":[],"createdAt":"2026-11-15","state":"done","language":"en"}]', 'Tea 茶', 1790000000, NULL);
INSERT INTO public.qiusuo_turns VALUES ('fKsPV4lBoo-F83rl', 'MzLffAfwe1zSHaIq', 0, 'what is tea?
a plant.', '{"id":"MzLffAfwe1zSHaIq","question":"What is tea?","mode":"chat","model":"","search":false,"createdAt":"2026-11-15T00:00:00.000+00:00","state":"done","stage":null,"answer":"A plant.","references":"","cited":[],"finish":"","rounds":[],"sources":[],"readings":[],"notices":[],"check":null,"usage":null,"language":"en","research":null,"scope":null,"kept":null,"related":[],"called":""}');
INSERT INTO public.qiusuo_turns VALUES ('fKsPV4lBoo-F83rl', 'T6MqWWVdgolkEF63', 1, 'and 茶?
the same.', '{"id":"T6MqWWVdgolkEF63","question":"And 茶?","mode":"chat","model":"","search":false,"createdAt":"2026-11-15T00:00:00.000+00:00","state":"done","stage":null,"answer":"The same.","references":"","cited":[],"finish":"","rounds":[],"sources":[],"readings":[],"notices":[],"check":null,"usage":null,"language":"zh","research":null,"scope":null,"kept":null,"related":[],"called":""}');
INSERT INTO public.qiusuo_turns VALUES ('ReMXTkE5LO0UBTKv', 'MzLffAfwe1zSHaIq', 0, 'what is tea?
a plant.', '{"id":"MzLffAfwe1zSHaIq","question":"What is tea?","mode":"chat","model":"","search":false,"createdAt":"2026-11-15T00:00:00.000+00:00","state":"done","stage":null,"answer":"A plant.","references":"","cited":[],"finish":"","rounds":[],"sources":[],"readings":[],"notices":[],"check":null,"usage":null,"language":"en","research":null,"scope":null,"kept":null,"related":[],"called":""}');
INSERT INTO public.qiusuo_usage VALUES (3600, 1789999200, 'search', 'brave', 'ok', 'ada', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO public.qiusuo_usage_queries VALUES (1789948800, 'slow', 'tea', 1, 900, 'ok');
INSERT INTO public.qiusuo_usage_writers VALUES ('Za_1tT4DFiFPVs2B', 1, 1790000000);
ALTER TABLE ONLY public.qiusuo_branches
    ADD CONSTRAINT qiusuo_branches_pkey PRIMARY KEY (session_id);
ALTER TABLE ONLY public.qiusuo_feedback
    ADD CONSTRAINT qiusuo_feedback_pkey PRIMARY KEY (session_id, turn_id);
ALTER TABLE ONLY public.qiusuo_files
    ADD CONSTRAINT qiusuo_files_pkey PRIMARY KEY (session_id, id);
ALTER TABLE ONLY public.qiusuo_holders
    ADD CONSTRAINT qiusuo_holders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.qiusuo_pieces
    ADD CONSTRAINT qiusuo_pieces_pkey PRIMARY KEY (session_id, turn_id, number);
ALTER TABLE ONLY public.qiusuo_schema
    ADD CONSTRAINT qiusuo_schema_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.qiusuo_sessions
    ADD CONSTRAINT qiusuo_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.qiusuo_shares
    ADD CONSTRAINT qiusuo_shares_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.qiusuo_shares
    ADD CONSTRAINT qiusuo_shares_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.qiusuo_turns
    ADD CONSTRAINT qiusuo_turns_pkey PRIMARY KEY (session_id, id);
ALTER TABLE ONLY public.qiusuo_usage
    ADD CONSTRAINT qiusuo_usage_pkey PRIMARY KEY (span, bucket, kind, name, outcome, owner);
ALTER TABLE ONLY public.qiusuo_usage_queries
    ADD CONSTRAINT qiusuo_usage_queries_pkey PRIMARY KEY (bucket, kind, query);
ALTER TABLE ONLY public.qiusuo_usage_writers
    ADD CONSTRAINT qiusuo_usage_writers_pkey PRIMARY KEY (id);
CREATE INDEX qiusuo_branches_of_origin ON public.qiusuo_branches USING btree (origin_id);
CREATE INDEX qiusuo_feedback_by_time ON public.qiusuo_feedback USING btree (created_at);
CREATE INDEX qiusuo_sessions_held ON public.qiusuo_sessions USING btree (holder, running);
CREATE INDEX qiusuo_sessions_of_owner ON public.qiusuo_sessions USING btree (owner, updated_at);
CREATE INDEX qiusuo_shares_of_owner ON public.qiusuo_shares USING btree (owner);
CREATE INDEX qiusuo_shares_of_session ON public.qiusuo_shares USING btree (session_id);
CREATE UNIQUE INDEX qiusuo_turns_in_order ON public.qiusuo_turns USING btree (session_id, "position");
CREATE INDEX qiusuo_usage_in_time ON public.qiusuo_usage USING btree (bucket);
ALTER TABLE ONLY public.qiusuo_branches
    ADD CONSTRAINT qiusuo_branches_origin_id_fkey FOREIGN KEY (origin_id) REFERENCES public.qiusuo_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.qiusuo_branches
    ADD CONSTRAINT qiusuo_branches_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.qiusuo_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.qiusuo_feedback
    ADD CONSTRAINT qiusuo_feedback_session_id_turn_id_fkey FOREIGN KEY (session_id, turn_id) REFERENCES public.qiusuo_turns(session_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.qiusuo_files
    ADD CONSTRAINT qiusuo_files_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.qiusuo_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.qiusuo_pieces
    ADD CONSTRAINT qiusuo_pieces_session_id_turn_id_fkey FOREIGN KEY (session_id, turn_id) REFERENCES public.qiusuo_turns(session_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.qiusuo_shares
    ADD CONSTRAINT qiusuo_shares_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.qiusuo_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.qiusuo_turns
    ADD CONSTRAINT qiusuo_turns_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.qiusuo_sessions(id) ON DELETE CASCADE;
