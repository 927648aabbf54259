/**
 * The page's addresses. All are below `/app`, under any path prefix: the page derives its base path from
 * its script's URL.
 */
export type Place =
  | { view: 'home' }
  | { view: 'tokens' }
  | { view: 'new-organization' }
  | { view: OrganizationView; organization: string }
  | { view: SingleView; organization: string; id: string }
  | { view: 'workspace'; organization: string; workspace: string; tab: Tab }
  | { view: 'run'; organization: string; workspace: string; run: string }
  | { view: 'state'; organization: string; workspace: string; version: string }
  | { view: 'query'; organization: string; workspace: string; query: string }
  | ({ view: 'module'; organization: string; tab: ModuleTab } & ModulePlace)
  | ({ view: 'test-run'; organization: string; run: string } & ModulePlace)
  | { view: 'commit'; organization: string; identifier: string; sha: string }
  | { view: 'provider'; organization: string; registry: string; namespace: string; name: string }
  | { view: 'nowhere' };

/** The address of a module in the registry: `private/acme/vpc/aws`. */
export interface ModulePlace {
  registry: string;
  namespace: string;
  name: string;
  provider: string;
}

/** Views of an organization, by their path below it. */
const organizationPaths = {
  workspaces: ['workspaces'],
  overview: ['overview'],
  queue: ['runs'],
  projects: ['projects'],
  explorer: ['explorer'],
  environments: ['environments'],
  templates: ['templates'],
  modules: ['registry', 'modules'],
  providers: ['registry', 'providers'],
  'variable-sets': ['variable-sets'],
  'run-tasks': ['settings', 'run-tasks'],
  'policy-sets': ['settings', 'policy-sets'],
  'agent-pools': ['settings', 'agent-pools'],
  'version-control': ['settings', 'version-control'],
  teams: ['settings', 'teams'],
  members: ['settings', 'members'],
  'ip-allowlists': ['settings', 'ip-allowlists'],
  'audit-trail': ['settings', 'audit-trail'],
  'organization-settings': ['settings', 'general'],
} as const satisfies Record<string, readonly string[]>;
export type OrganizationView = keyof typeof organizationPaths;
export const organizationViews = Object.keys(organizationPaths) as OrganizationView[];

/** Lists whose entries have their own views, with the prefix of their ids. */
const singles = {
  'variable-set': ['variable-sets', 'varset-'],
  'policy-set': ['policy-sets', 'polset-'],
  project: ['projects', 'prj-'],
  team: ['teams', 'team-'],
  'agent-pool': ['agent-pools', 'apool-'],
  'ip-allowlist': ['ip-allowlists', 'crl-'],
  environment: ['environments', ''],
  template: ['templates', ''],
} as const satisfies Record<string, readonly [OrganizationView, string]>;
export type SingleView = keyof typeof singles;

export const listOf = (view: SingleView): OrganizationView => singles[view][0];

const single = (organization: string, list: OrganizationView, id: string): Place => {
  const match = (Object.keys(singles) as SingleView[]).find(
    (view) => singles[view][0] === list && id.startsWith(singles[view][1]),
  );
  return match ? { view: match, organization, id } : { view: 'nowhere' };
};

const ofOrganization = (organization: string, parts: string[]): Place | undefined => {
  for (const view of organizationViews) {
    const path: readonly string[] = organizationPaths[view];
    if (!path.every((part, i) => part === parts[i])) continue;
    const [id, ...more] = parts.slice(path.length);
    if (id === undefined) return { view, organization };
    if (view === 'modules') return moduleAt(organization, id, more);
    if (view === 'providers') return providerAt(organization, id, more);
    if (view !== 'workspaces') return more.length ? { view: 'nowhere' } : single(organization, view, id);
  }
  return undefined;
};

/** Tabs of a module; the first one is the module's own address. */
export const moduleTabs = ['documentation', 'versions', 'test-runs', 'no-code', 'new-workspace'] as const;
export type ModuleTab = (typeof moduleTabs)[number];

const moduleAt = (organization: string, registry: string, rest: string[]): Place => {
  const [namespace, name, provider, tab = 'documentation', run, more] = rest;
  const isTab = (moduleTabs as readonly string[]).includes(tab);
  if (!namespace || !name || !provider || !isTab || more !== undefined) return { view: 'nowhere' };
  const at = { organization, registry, namespace, name, provider };
  if (run === undefined) return { view: 'module', ...at, tab: tab as ModuleTab };
  return tab === 'test-runs' ? { view: 'test-run', ...at, run } : { view: 'nowhere' };
};

const providerAt = (organization: string, registry: string, [namespace, name, more]: string[]): Place =>
  namespace && name && more === undefined
    ? { view: 'provider', organization, registry, namespace, name }
    : { view: 'nowhere' };

/** The target of commit statuses. The repository's name has at least two parts. */
const commitAt = (organization: string, parts: string[]): Place | undefined => {
  const sha = parts.at(-1) ?? '';
  if (parts.length < 3 || !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha)) return undefined;
  return { view: 'commit', organization, identifier: parts.slice(0, -1).join('/'), sha };
};

export const tabs = ['overview', 'runs', 'resources', 'states', 'health', 'queries', 'variables', 'settings'] as const;
export type Tab = (typeof tabs)[number];

const isTab = (text: string | undefined): text is Tab => (tabs as readonly (string | undefined)[]).includes(text);

/** Addresses of runs and queries that the command line prints, for any workspace name. */
const ofCommandLine = (organization: string, workspace: string, rest: string[]): Place | undefined => {
  const [kind, id] = rest;
  if (rest.length !== 2 || id === undefined) return undefined;
  if (kind === 'runs' && id.startsWith('run-')) return { view: 'run', organization, workspace, run: id };
  if (kind === 'search' && id.startsWith('query-')) return { view: 'query', organization, workspace, query: id };
  return undefined;
};

/**
 * @param path below the base, e.g. `/app/acme/workspaces/network`. Also reads the addresses that the command line
 * prints: `/app/ORG/WORKSPACE/runs/RUN`, `/app/ORG/WORKSPACE/search/QUERY`, and `/app/settings/tokens` for
 * `terraform login`.
 */
export const placeOf = (path: string): Place => {
  const parts = decoded(path);
  if (parts === undefined || (parts.length > 0 && parts[0] !== 'app')) return { view: 'nowhere' };
  const [organization, second, ...rest] = parts.slice(1);
  if (!organization) return { view: 'home' };
  if (organization === 'settings' && second === 'tokens') return { view: 'tokens' };
  if (organization === 'organizations' && second === 'new') return { view: 'new-organization' };
  if (second === undefined) return { view: 'workspaces', organization };
  const printed = ofCommandLine(organization, second, rest);
  if (printed) return printed;
  const commit = second === 'commits' ? commitAt(organization, rest) : undefined;
  if (commit) return commit;
  const inside = ofOrganization(organization, [second, ...rest]);
  if (inside) return inside;
  const [workspace = '', ...within] = second === 'workspaces' ? rest : [second, ...rest];
  return inWorkspace(organization, workspace, within);
};

const inWorkspace = (organization: string, workspace: string, [tab = 'overview', id, more]: string[]): Place => {
  if (!isTab(tab) || more !== undefined) return { view: 'nowhere' };
  if (id === undefined) return { view: 'workspace', organization, workspace, tab };
  if (tab === 'runs') return { view: 'run', organization, workspace, run: id };
  if (tab === 'queries') return { view: 'query', organization, workspace, query: id };
  return tab === 'states' ? { view: 'state', organization, workspace, version: id } : { view: 'nowhere' };
};

const decoded = (path: string): string[] | undefined => {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
};

const join = (...parts: string[]): string => `/app/${parts.map(encodeURIComponent).join('/')}`;

const moduleAddress = (
  { organization, registry, namespace, name, provider }: ModulePlace & { organization: string },
  ...within: string[]
): string => join(organization, ...organizationPaths.modules, registry, namespace, name, provider, ...within);

/** The canonical path of a place, below the base. */
export const pathOf = (place: Place): string => {
  switch (place.view) {
    case 'home':
    case 'nowhere':
      return '/';
    case 'tokens':
      return '/app/settings/tokens';
    case 'new-organization':
      return '/app/organizations/new';
    case 'variable-set':
    case 'policy-set':
    case 'project':
    case 'team':
    case 'agent-pool':
    case 'ip-allowlist':
    case 'environment':
    case 'template':
      return join(place.organization, ...organizationPaths[singles[place.view][0]], place.id);
    case 'workspace':
      return join(place.organization, 'workspaces', place.workspace, ...(place.tab === 'overview' ? [] : [place.tab]));
    case 'run':
      return join(place.organization, 'workspaces', place.workspace, 'runs', place.run);
    case 'state':
      return join(place.organization, 'workspaces', place.workspace, 'states', place.version);
    case 'query':
      return join(place.organization, 'workspaces', place.workspace, 'queries', place.query);
    case 'module':
      return moduleAddress(place, ...(place.tab === 'documentation' ? [] : [place.tab]));
    case 'test-run':
      return moduleAddress(place, 'test-runs', place.run);
    case 'commit':
      return join(place.organization, 'commits', ...place.identifier.split('/'), place.sha);
    case 'provider':
      return join(place.organization, ...organizationPaths.providers, place.registry, place.namespace, place.name);
    default:
      return join(place.organization, ...organizationPaths[place.view]);
  }
};
