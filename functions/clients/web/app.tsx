import { useEffect } from 'preact/hooks';
import type { Place } from '#clients/client/page-addresses.ts';
import { lazily } from './lazily.tsx';
import { hrefOf, place } from './location.ts';
import { Notice } from './parts/basics.tsx';
import { KeyWindows } from './parts/keys.tsx';
import { Shell } from './parts/shell.tsx';
import { account, joining, knowAccount, signedIn } from './session.ts';
import { OrganizationHome } from './views/home/organization-home.tsx';
import { Organizations } from './views/people/organizations.tsx';
import { SignIn } from './views/people/sign-in.tsx';
import { Queue } from './views/runs/queue.tsx';
import { Workspaces } from './views/workspaces/workspaces.tsx';

const run = () => import('./groups/run.ts');
const CommitView = lazily(run, (group) => group.CommitView);
const QueryView = lazily(run, (group) => group.QueryView);
const RunView = lazily(run, (group) => group.RunView);
const StateView = lazily(run, (group) => group.StateView);

const workspace = () => import('./groups/workspace.ts');
const WorkspaceView = lazily(workspace, (group) => group.WorkspaceView);

const environments = () => import('./groups/environments.ts');
const EnvironmentView = lazily(environments, (group) => group.EnvironmentView);
const Environments = lazily(environments, (group) => group.Environments);
const TemplateView = lazily(environments, (group) => group.TemplateView);
const Templates = lazily(environments, (group) => group.Templates);

const registry = () => import('./groups/registry.ts');
const ModuleView = lazily(registry, (group) => group.ModuleView);
const Modules = lazily(registry, (group) => group.Modules);
const ProviderView = lazily(registry, (group) => group.ProviderView);
const Providers = lazily(registry, (group) => group.Providers);
const TestRunView = lazily(registry, (group) => group.TestRunView);

const organization = () => import('./groups/organization.ts');
const AgentPoolView = lazily(organization, (group) => group.AgentPoolView);
const AgentPools = lazily(organization, (group) => group.AgentPools);
const AuditTrail = lazily(organization, (group) => group.AuditTrail);
const Connections = lazily(organization, (group) => group.Connections);
const Explorer = lazily(organization, (group) => group.Explorer);
const IpAllowlists = lazily(organization, (group) => group.IpAllowlists);
const IpAllowlistView = lazily(organization, (group) => group.IpAllowlistView);
const Members = lazily(organization, (group) => group.Members);
const NewOrganization = lazily(organization, (group) => group.NewOrganization);
const OrganizationSettings = lazily(organization, (group) => group.OrganizationSettings);
const PolicySetView = lazily(organization, (group) => group.PolicySetView);
const PolicySets = lazily(organization, (group) => group.PolicySets);
const ProjectView = lazily(organization, (group) => group.ProjectView);
const Projects = lazily(organization, (group) => group.Projects);
const RunTasks = lazily(organization, (group) => group.RunTasks);
const TeamView = lazily(organization, (group) => group.TeamView);
const Teams = lazily(organization, (group) => group.Teams);
const Tokens = lazily(organization, (group) => group.Tokens);
const VariableSetView = lazily(organization, (group) => group.VariableSetView);
const VariableSets = lazily(organization, (group) => group.VariableSets);

export const App = () => {
  const authenticated = signedIn.value;
  useEffect(() => {
    if (!authenticated || account.peek()) return;
    void knowAccount();
  }, [authenticated]);
  if (authenticated) {
    return (
      <>
        <View at={place.value} />
        <KeyWindows />
      </>
    );
  }
  // Do not show the sign-in form while another tab may still share its session.
  return joining.value ? null : <SignIn />;
};

const View = ({ at }: { at: Place }) => {
  switch (at.view) {
    case 'home':
      return <Organizations />;
    case 'new-organization':
      return <NewOrganization />;
    case 'tokens':
      return <Tokens />;
    case 'overview':
      return <OrganizationHome key={at.organization} organization={at.organization} />;
    case 'queue':
      return <Queue key={at.organization} organization={at.organization} />;
    case 'projects':
      return <Projects key={at.organization} organization={at.organization} />;
    case 'project':
      return <ProjectView key={at.id} {...at} />;
    case 'variable-sets':
      return <VariableSets key={at.organization} organization={at.organization} />;
    case 'variable-set':
      return <VariableSetView key={at.id} {...at} />;
    case 'run-tasks':
      return <RunTasks key={at.organization} organization={at.organization} />;
    case 'policy-sets':
      return <PolicySets key={at.organization} organization={at.organization} />;
    case 'policy-set':
      return <PolicySetView key={at.id} {...at} />;
    case 'agent-pools':
      return <AgentPools key={at.organization} organization={at.organization} />;
    case 'agent-pool':
      return <AgentPoolView key={at.id} {...at} />;
    case 'ip-allowlists':
      return <IpAllowlists key={at.organization} organization={at.organization} />;
    case 'ip-allowlist':
      return <IpAllowlistView key={at.id} {...at} />;
    case 'environments':
      return <Environments key={at.organization} organization={at.organization} />;
    case 'environment':
      return <EnvironmentView key={at.id} {...at} />;
    case 'templates':
      return <Templates key={at.organization} organization={at.organization} />;
    case 'template':
      return <TemplateView key={at.id} {...at} />;
    case 'modules':
      return <Modules key={at.organization} organization={at.organization} />;
    case 'module':
      return <ModuleView key={`${at.organization} ${at.registry}/${at.namespace}/${at.name}/${at.provider}`} {...at} />;
    case 'test-run':
      return <TestRunView key={at.run} {...at} />;
    case 'providers':
      return <Providers key={at.organization} organization={at.organization} />;
    case 'provider':
      return <ProviderView key={`${at.organization} ${at.registry}/${at.namespace}/${at.name}`} {...at} />;
    case 'version-control':
      return <Connections key={at.organization} organization={at.organization} />;
    case 'teams':
      return <Teams key={at.organization} organization={at.organization} />;
    case 'team':
      return <TeamView key={at.id} {...at} />;
    case 'members':
      return <Members key={at.organization} organization={at.organization} />;
    case 'explorer':
      return <Explorer key={at.organization} organization={at.organization} />;
    case 'audit-trail':
      return <AuditTrail key={at.organization} organization={at.organization} />;
    case 'organization-settings':
      return <OrganizationSettings key={at.organization} organization={at.organization} />;
    case 'state':
      return <StateView key={at.version} {...at} />;
    case 'workspaces':
      return <Workspaces key={at.organization} organization={at.organization} />;
    case 'workspace':
      return <WorkspaceView key={`${at.organization}/${at.workspace}`} {...at} />;
    case 'query':
      return <QueryView key={at.query} {...at} />;
    case 'commit':
      return <CommitView key={`${at.identifier} ${at.sha}`} {...at} />;
    case 'run':
      return <RunView key={at.run} id={at.run} organization={at.organization} />;
    default:
      return (
        <Shell title="Not found" crumbs={[]}>
          <h1>Page not found</h1>
          <Notice kind="warn">
            Check the address, or <a href={hrefOf({ view: 'home' })}>see your organizations</a>.
          </Notice>
        </Shell>
      );
  }
};
