-- 0014_cudnn: the version of cuDNN is part of the environment, since a provider may be NVIDIA's own attention.

ALTER TABLE device ADD COLUMN cudnn TEXT NOT NULL DEFAULT '';      -- "9.13.0"; "" none was found
ALTER TABLE environment ADD COLUMN cudnn TEXT NOT NULL DEFAULT '';
