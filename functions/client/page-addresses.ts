/**
 * The page's addresses. Everything is below `/app`, and works under any path prefix: the page learns its own base from
 * where its script came from.
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
  | { view: 'nowhere' };

/** What an organization has, by the path of each below it. */
const organizationPaths = {
  workspaces: ['workspaces'],
  overview: ['overview'],
  queue: ['runs'],
  projects: ['projects'],
  explorer: ['explorer'],
  environments: ['environments'],
  templates: ['templates'],
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

/** Lists whose entries have views of their own, with what their ids begin with. */
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
    if (view !== 'workspaces') return more.length ? { view: 'nowhere' } : single(organization, view, id);
  }
  return undefined;
};

export const tabs = ['overview', 'runs', 'resources', 'states', 'health', 'variables', 'settings'] as const;
export type Tab = (typeof tabs)[number];

const isTab = (text: string | undefined): text is Tab => (tabs as readonly (string | undefined)[]).includes(text);

/**
 * @param path below the base, e.g. `/app/acme/workspaces/network`. Also reads the addresses that the command line
 * prints: `/app/ORG/WORKSPACE/runs/RUN`, and `/app/settings/tokens` for `terraform login`.
 */
export const placeOf = (path: string): Place => {
  const parts = decoded(path);
  if (parts === undefined || (parts.length > 0 && parts[0] !== 'app')) return { view: 'nowhere' };
  const [organization, second, ...rest] = parts.slice(1);
  if (!organization) return { view: 'home' };
  if (organization === 'settings' && second === 'tokens') return { view: 'tokens' };
  if (organization === 'organizations' && second === 'new') return { view: 'new-organization' };
  const isRunOfCommandLine = rest[0] === 'runs' && rest[1]?.startsWith('run-') && rest.length === 2;
  if (isRunOfCommandLine && second) return { view: 'run', organization, workspace: second, run: rest[1] as string };
  if (second === undefined) return { view: 'workspaces', organization };
  const inside = ofOrganization(organization, [second, ...rest]);
  if (inside) return inside;
  const [workspace = '', ...within] = second === 'workspaces' ? rest : [second, ...rest];
  return inWorkspace(organization, workspace, within);
};

const inWorkspace = (organization: string, workspace: string, [tab = 'overview', id, more]: string[]): Place => {
  if (!isTab(tab) || more !== undefined) return { view: 'nowhere' };
  if (id === undefined) return { view: 'workspace', organization, workspace, tab };
  if (tab === 'runs') return { view: 'run', organization, workspace, run: id };
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

/** The one address of a place, below the base. */
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
    default:
      return join(place.organization, ...organizationPaths[place.view]);
  }
};
