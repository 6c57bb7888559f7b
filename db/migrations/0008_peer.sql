-- 0008_peer: the comparisons against a peer, which every opened cell asks for and of which there are few.
CREATE INDEX comparison_peer ON comparison(repo) WHERE kind = 'peer';
