/**
 * The page's addresses. Everything is below `/app`, and works under any path prefix: the page learns its own base from
 * where its script came from.
 */
export type Place =
  | { view: 'home' }
  | { view: 'tokens' }
  | { view: 'new-organization' }
  | { view: 'workspaces'; organization: string }
  | { view: 'queue'; organization: string }
  | { view: 'variable-sets'; organization: string }
  | { view: 'variable-set'; organization: string; set: string }
  | { view: 'workspace'; organization: string; workspace: string; tab: Tab }
  | { view: 'run'; organization: string; workspace: string; run: string }
  | { view: 'state'; organization: string; workspace: string; version: string }
  | { view: 'nowhere' };

export const tabs = ['overview', 'runs', 'states', 'variables', 'settings'] as const;
export type Tab = (typeof tabs)[number];

const isTab = (text: string | undefined): text is Tab => (tabs as readonly (string | undefined)[]).includes(text);

/**
 * @param path below the base, e.g. `/app/acme/workspaces/network`. Also reads the addresses that the command line
 * prints: `/app/ORG/WORKSPACE/runs/RUN`, and `/app/settings/tokens` for `terraform login` (api.md §2.11).
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
  if (second !== 'workspaces') {
    if (second === 'runs' && rest.length === 0) return { view: 'queue', organization };
    if (second === 'variable-sets' && rest.length === 0) return { view: 'variable-sets', organization };
    if (second === 'variable-sets' && rest[0]?.startsWith('varset-') && rest.length === 1) {
      return { view: 'variable-set', organization, set: rest[0] };
    }
    return inWorkspace(organization, second, rest);
  }
  const [workspace, ...inside] = rest;
  return workspace ? inWorkspace(organization, workspace, inside) : { view: 'workspaces', organization };
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
    case 'workspaces':
      return join(place.organization, 'workspaces');
    case 'queue':
      return join(place.organization, 'runs');
    case 'variable-sets':
      return join(place.organization, 'variable-sets');
    case 'variable-set':
      return join(place.organization, 'variable-sets', place.set);
    case 'workspace':
      return join(place.organization, 'workspaces', place.workspace, ...(place.tab === 'overview' ? [] : [place.tab]));
    case 'run':
      return join(place.organization, 'workspaces', place.workspace, 'runs', place.run);
    case 'state':
      return join(place.organization, 'workspaces', place.workspace, 'states', place.version);
  }
};
