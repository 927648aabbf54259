import type { Dialect } from '../service-providers.ts';
import type { Forge } from './forge.ts';
import { gitea } from './gitea/forge.ts';
import { github } from './github/forge.ts';
import { gitlab } from './gitlab/forge.ts';

export const forges: Record<Dialect, Forge> = { github, gitlab, gitea };
