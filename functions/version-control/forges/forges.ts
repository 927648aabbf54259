import type { Dialect } from '../service-providers.ts';
import { azureDevops } from './azure-devops/forge.ts';
import { bitbucket } from './bitbucket/forge.ts';
import { bitbucketServer } from './bitbucket-server/forge.ts';
import type { Forge } from './forge.ts';
import { gitea } from './gitea/forge.ts';
import { github } from './github/forge.ts';
import { gitlab } from './gitlab/forge.ts';

export const forges: Record<Dialect, Forge> = {
  github,
  gitlab,
  gitea,
  bitbucket,
  'bitbucket-server': bitbucketServer,
  'azure-devops': azureDevops,
};
