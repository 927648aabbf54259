import type { Dialect } from '../service-providers.ts';
import type { Forge } from './forge.ts';
import { gitea } from './gitea.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';

export const forges: Record<Dialect, Forge> = { github, gitlab, gitea };
