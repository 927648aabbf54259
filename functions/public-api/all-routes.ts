import type { Route } from '#api/route.ts';
import * as access from './access.ts';
import * as api from './api.ts';
import * as explorer from './explorer.ts';
import * as governance from './governance.ts';
import * as modules from './modules.ts';
import * as organizations from './organizations.ts';
import * as policies from './policies.ts';
import * as registry from './registry.ts';
import * as runs from './runs.ts';
import * as saml from './saml.ts';
import * as settings from './settings.ts';
import * as signIn from './sign-in.ts';
import * as slack from './slack.ts';
import * as states from './states.ts';
import * as testRuns from './test-runs.ts';
import * as versionControl from './version-control.ts';
import * as workspaces from './workspaces.ts';

/** All routes of the public API and sign-in, by full path, across all functions. */
export const routes: Route[] = [
  api,
  runs,
  states,
  access,
  organizations,
  workspaces,
  settings,
  governance,
  explorer,
  policies,
  registry,
  modules,
  testRuns,
  versionControl,
  signIn,
  saml,
  slack,
].flatMap((module) => module.routes);
