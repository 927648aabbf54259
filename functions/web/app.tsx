import { useEffect } from 'preact/hooks';
import type { Place } from '../client/page-addresses.ts';
import { hrefOf, place } from './location.ts';
import { Notice } from './parts/basics.tsx';
import { KeyWindows } from './parts/keys.tsx';
import { Shell } from './parts/shell.tsx';
import { account, joining, knowAccount, signedIn } from './session.ts';
import { AgentPoolView } from './views/agents/agent-pool.tsx';
import { AgentPools } from './views/agents/agent-pools.tsx';
import { AuditTrail } from './views/audit/audit-trail.tsx';
import { EnvironmentView } from './views/environments/environment.tsx';
import { Environments } from './views/environments/environments.tsx';
import { TemplateView } from './views/environments/template.tsx';
import { Templates } from './views/environments/templates.tsx';
import { OrganizationHome } from './views/home/organization-home.tsx';
import { Members } from './views/people/members.tsx';
import { NewOrganization } from './views/people/new-organization.tsx';
import { OrganizationSettings } from './views/people/organization-settings.tsx';
import { Organizations } from './views/people/organizations.tsx';
import { SignIn } from './views/people/sign-in.tsx';
import { TeamView } from './views/people/team.tsx';
import { Teams } from './views/people/teams.tsx';
import { Tokens } from './views/people/tokens.tsx';
import { PolicySetView } from './views/policies/policy-set.tsx';
import { PolicySets } from './views/policies/policy-sets.tsx';
import { ProjectView } from './views/projects/project.tsx';
import { Projects } from './views/projects/projects.tsx';
import { RunTasks } from './views/run-tasks/run-tasks.tsx';
import { Queue } from './views/runs/queue.tsx';
import { RunView } from './views/runs/run.tsx';
import { StateView } from './views/states/state-version.tsx';
import { VariableSetView } from './views/variables/variable-set.tsx';
import { VariableSets } from './views/variables/variable-sets.tsx';
import { Connections } from './views/version-control/connections.tsx';
import { WorkspaceView } from './views/workspaces/workspace.tsx';
import { Workspaces } from './views/workspaces/workspaces.tsx';

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
  // Nobody is asked to sign in whom another tab is about to let in.
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
    case 'environments':
      return <Environments key={at.organization} organization={at.organization} />;
    case 'environment':
      return <EnvironmentView key={at.id} {...at} />;
    case 'templates':
      return <Templates key={at.organization} organization={at.organization} />;
    case 'template':
      return <TemplateView key={at.id} {...at} />;
    case 'version-control':
      return <Connections key={at.organization} organization={at.organization} />;
    case 'teams':
      return <Teams key={at.organization} organization={at.organization} />;
    case 'team':
      return <TeamView key={at.id} {...at} />;
    case 'members':
      return <Members key={at.organization} organization={at.organization} />;
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
