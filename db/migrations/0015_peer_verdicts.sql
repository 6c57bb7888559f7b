-- 0015_peer_verdicts: comparisons with peers are left out of the counts by verdict, without reading them all.
CREATE INDEX comparison_peer_verdict ON comparison(verdict) WHERE kind = 'peer';
