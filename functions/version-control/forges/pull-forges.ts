import type { Dialect } from '../service-providers.ts';
import { azureDevopsPulls } from './azure-devops/pulls.ts';
import { bitbucketPulls } from './bitbucket/pulls.ts';
import { bitbucketServerPulls } from './bitbucket-server/pulls.ts';
import type { PullForge } from './forge.ts';
import { giteaPulls } from './gitea/pulls.ts';
import { githubPulls } from './github/pulls.ts';
import { gitlabPulls } from './gitlab/pulls.ts';

export const pullForges: Record<Dialect, PullForge> = {
  github: githubPulls,
  gitlab: gitlabPulls,
  gitea: giteaPulls,
  bitbucket: bitbucketPulls,
  'bitbucket-server': bitbucketServerPulls,
  'azure-devops': azureDevopsPulls,
};
