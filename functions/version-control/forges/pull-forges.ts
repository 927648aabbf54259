import type { Dialect } from '../service-providers.ts';
import type { PullForge } from './forge.ts';
import { giteaPulls } from './gitea/pulls.ts';
import { githubPulls } from './github/pulls.ts';
import { gitlabPulls } from './gitlab/pulls.ts';

export const pullForges: Record<Dialect, PullForge> = { github: githubPulls, gitlab: gitlabPulls, gitea: giteaPulls };
