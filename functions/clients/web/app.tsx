import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Place } from '#clients/client/page-addresses.ts';
import { lazily, WaitingPart } from './lazily.tsx';
import { hrefOf, place } from './location.ts';
import { Notice } from './parts/basics.tsx';
import { closeKeyWindow, keyWindow } from './parts/keys.tsx';
import { Shell } from './parts/shell.tsx';
import { account, expired, joining, knowAccount, signedIn } from './session.ts';
import { OrganizationHome } from './views/home/organization-home.tsx';
import { Organizations } from './views/people/organizations.tsx';
import { SignIn, SignInAgain } from './views/people/sign-in.tsx';
import { Queue } from './views/runs/queue.tsx';
import { Workspaces } from './views/workspaces/workspaces.tsx';

const environments = () => import('./groups/environments.ts');
const keys = () => import('./groups/keys.ts');
const organization = () => import('./groups/organization.ts');
const plan = () => import('./groups/plan.ts');
const registry = () => import('./groups/registry.ts');
const run = () => import('./groups/run.ts');
const workspace = () => import('./groups/workspace.ts');

const Nowhere = () => (
  <Shell title="Not found" crumbs={[]}>
    <h1>Page not found</h1>
    <Notice kind="warn">
      Check the address, or <a href={hrefOf({ view: 'home' })}>see your organizations</a>.
    </Notice>
  </Shell>
);

/** The parts of a view's address. */
type AddressOf<View, At = Place> = At extends { view: infer Views }
  ? View extends Views
    ? Omit<At, 'view'>
    : never
  : never;

const views: { [View in Place['view']]: ComponentType<AddressOf<View>> } = {
  'agent-pool': lazily(organization, (group) => group.AgentPoolView),
  'agent-pools': lazily(organization, (group) => group.AgentPools),
  'audit-trail': lazily(organization, (group) => group.AuditTrail),
  commit: lazily(run, (group) => group.CommitView),
  environment: lazily(environments, (group) => group.EnvironmentView),
  environments: lazily(environments, (group) => group.Environments),
  explorer: lazily(organization, (group) => group.Explorer),
  home: Organizations,
  'ip-allowlist': lazily(organization, (group) => group.IpAllowlistView),
  'ip-allowlists': lazily(organization, (group) => group.IpAllowlists),
  members: lazily(organization, (group) => group.Members),
  module: lazily(registry, (group) => group.ModuleView),
  modules: lazily(registry, (group) => group.Modules),
  'new-organization': lazily(organization, (group) => group.NewOrganization),
  nowhere: Nowhere,
  'organization-settings': lazily(organization, (group) => group.OrganizationSettings),
  overview: OrganizationHome,
  'policy-set': lazily(organization, (group) => group.PolicySetView),
  'policy-sets': lazily(organization, (group) => group.PolicySets),
  project: lazily(organization, (group) => group.ProjectView),
  projects: lazily(organization, (group) => group.Projects),
  provider: lazily(registry, (group) => group.ProviderView),
  providers: lazily(registry, (group) => group.Providers),
  query: lazily(run, (group) => group.QueryView),
  queue: Queue,
  run: lazily(run, (group) => group.RunView),
  'run-tasks': lazily(organization, (group) => group.RunTasks),
  state: lazily(plan, (group) => group.StateView),
  team: lazily(organization, (group) => group.TeamView),
  teams: lazily(organization, (group) => group.Teams),
  template: lazily(environments, (group) => group.TemplateView),
  templates: lazily(environments, (group) => group.Templates),
  'test-run': lazily(registry, (group) => group.TestRunView),
  tokens: lazily(organization, (group) => group.Tokens),
  'variable-set': lazily(organization, (group) => group.VariableSetView),
  'variable-sets': lazily(organization, (group) => group.VariableSets),
  'version-control': lazily(organization, (group) => group.Connections),
  workspace: lazily(workspace, (group) => group.WorkspaceView),
  workspaces: Workspaces,
};

const keyWindows = {
  palette: lazily(keys, (group) => group.Palette, WaitingPart),
  help: lazily(keys, (group) => group.KeyHelp, WaitingPart),
};

const KeyWindow = () => {
  const Opened = keyWindow.value && keyWindows[keyWindow.value];
  return Opened ? <Opened onClose={closeKeyWindow} /> : null;
};

export const App = () => {
  const authenticated = signedIn.value;
  useEffect(() => {
    if (authenticated && !account.peek()) void knowAccount();
  }, [authenticated]);
  const { view, ...address } = place.value;
  const mayEnter = authenticated || expired.value || view === 'nowhere';
  // Do not show the sign-in form while another tab may still share its session.
  if (!mayEnter) return joining.value ? null : <SignIn />;
  const View = views[view] as ComponentType<object>;
  return (
    <>
      {/* Another tab is the same view. */}
      <View key={JSON.stringify({ ...address, tab: undefined })} {...address} />
      {expired.value && <SignInAgain />}
      {authenticated && <KeyWindow />}
    </>
  );
};
