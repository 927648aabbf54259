import type { Field, Guide, Side } from './draw.ts';

/**
 * What to enter where, to connect a service: names of menus, buttons and fields as the documentation of the service has
 * them, and those of this project's page. The pages say where each name is from, and that none was compared with the screen.
 */

const connection = (provider: string, url: string, api: string, token = 'the token'): Side => ({
  title: 'stepform',
  path: ['Settings', 'Version control', 'New connection'],
  fields: [
    { name: 'Provider', value: provider },
    { name: 'URL', value: url },
    { name: 'API URL', value: api },
    { name: 'Access token', value: token, to: 1 },
  ],
});

const token = (name: string): Field => ({ name, value: 'copy the token: it is shown once', from: 1 });

/** What both identity providers need to know of the platform. */
const saml: Side = {
  title: 'stepform',
  path: ['Setting samlAdministrators', 'command line'],
  fields: [
    { name: 'Assertion consumer service (ACS)', value: '<ApiUrl>/users/saml/auth', from: 1 },
    { name: 'Entity id', value: '<ApiUrl>/users/saml/metadata', from: 2 },
    { name: 'stepform api PATCH /admin/saml-settings', value: '-F idp-metadata=@metadata.xml', to: 3 },
  ],
};

const scim: Side = {
  title: 'stepform',
  path: ['stepform api POST'],
  fields: [
    { name: '/organizations/acme/scim-configuration', value: 'base-url of the response', from: 1 },
    { name: '/scim-configurations/:id/authentication-tokens', value: 'token of the response', from: 2 },
  ],
};

export const guides: Guide[] = [
  {
    name: 'github',
    title: 'A fine-grained token of GitHub for a connection',
    left: {
      title: 'GitHub',
      path: [
        'Profile photo',
        'Settings',
        'Developer settings',
        'Personal access tokens',
        'Fine-grained tokens',
        'Generate new token',
      ],
      fields: [
        { name: 'Token name', value: 'stepform' },
        { name: 'Resource owner', value: 'who owns the repositories' },
        { name: 'Repository access', value: 'Only select repositories' },
        { name: 'Permissions: Read-only', value: 'Contents' },
        { name: 'Permissions: Read and write', value: 'Commit statuses, Pull requests, Webhooks' },
        token('Generate token'),
      ],
    },
    right: connection('GitHub', 'https://github.com', 'https://api.github.com'),
  },
  {
    name: 'gitlab',
    title: 'A personal access token of GitLab for a connection',
    left: {
      title: 'GitLab',
      path: ['Avatar', 'Edit profile', 'Access tokens', 'Add new token'],
      fields: [
        { name: 'Token name', value: 'stepform' },
        { name: 'Expiration date', value: 'when you replace it' },
        { name: 'Select scopes', value: 'api' },
        token('Your token'),
      ],
    },
    right: connection('GitLab.com', 'https://gitlab.com', 'https://gitlab.com/api/v4'),
  },
  {
    name: 'gitea',
    title: 'An access token of Gitea for a connection',
    left: {
      title: 'Gitea',
      path: ['Avatar', 'Settings', 'Applications', 'Manage Access Tokens', 'Generate New Token'],
      fields: [
        { name: 'Token Name', value: 'stepform' },
        { name: 'Repository and Organization Access', value: 'All (public, private, and limited)' },
        { name: 'Permissions: Read and Write', value: 'issue, repository' },
        { name: 'Permissions: Read', value: 'user' },
        token('Generate Token'),
      ],
    },
    right: connection('Gitea or Forgejo', 'https://git.example.com', 'https://git.example.com/api/v1'),
  },
  {
    name: 'bitbucket-cloud',
    title: 'An API token of Bitbucket Cloud for a connection',
    left: {
      title: 'Bitbucket Cloud',
      path: ['Profile', 'Account settings', 'Security', 'Create and manage API tokens', 'Create API token with scopes'],
      fields: [
        { name: 'Name, expiry', value: 'stepform, when you replace it' },
        { name: 'App', value: 'Bitbucket' },
        { name: 'Scopes: User data, Workspaces', value: 'read' },
        { name: 'Scopes: Repositories', value: 'read, write, admin' },
        { name: 'Scopes: Pull requests', value: 'read, write' },
        { name: 'Scopes: Webhooks', value: 'read, write, delete' },
        token('Create token'),
      ],
    },
    right: connection(
      'Bitbucket Cloud',
      'https://bitbucket.org',
      'https://api.bitbucket.org/2.0',
      'you@example.com:token, with the address of your Atlassian account',
    ),
  },
  {
    name: 'bitbucket-data-center',
    title: 'An HTTP access token of Bitbucket Data Center for a connection',
    left: {
      title: 'Bitbucket Data Center',
      path: ['Profile picture', 'Manage account', 'HTTP access tokens', 'Create token'],
      fields: [
        { name: 'Token name', value: 'stepform' },
        { name: 'Permissions', value: 'Project read, Repository admin' },
        { name: 'Expiry', value: 'when you replace it' },
        token('Create'),
      ],
    },
    right: connection('Bitbucket Data Center', 'https://bitbucket.example.com', 'https://bitbucket.example.com'),
  },
  {
    name: 'azure-devops',
    title: 'A personal access token of Azure DevOps for a connection',
    left: {
      title: 'Azure DevOps',
      path: ['User settings', 'Personal access tokens', 'New Token'],
      fields: [
        { name: 'Name', value: 'stepform' },
        { name: 'Organization', value: 'acme' },
        { name: 'Expiration', value: 'when you replace it' },
        { name: 'Scopes, Custom defined: Code', value: 'Read & write, Status' },
        { name: 'Scopes, Custom defined: Project and Team', value: 'Read' },
        token('Create'),
      ],
    },
    right: connection('Azure DevOps Services', 'https://dev.azure.com/acme', 'https://dev.azure.com/acme'),
  },
  {
    name: 'saml-okta',
    title: 'SAML with Okta',
    left: saml,
    right: {
      title: 'Okta',
      path: ['Applications', 'Applications', 'Create App Integration', 'SAML 2.0'],
      fields: [
        { name: 'Single sign-on URL', value: 'ACS', to: 1 },
        { name: 'Audience URI (SP Entity ID)', value: 'entity id', to: 2 },
        { name: 'Name ID format', value: 'Persistent' },
        { name: 'Attribute Statements', value: 'Username = user.login, email = user.email' },
        { name: 'Group Attribute Statements', value: 'MemberOf, Matches regex: terraform-.*' },
        { name: 'Sign On: Metadata URL', value: 'save its XML as metadata.xml', from: 3 },
      ],
    },
  },
  {
    name: 'saml-entra',
    title: 'SAML with Microsoft Entra ID',
    left: saml,
    right: {
      title: 'Microsoft Entra admin center',
      path: ['Enterprise applications', 'New application', 'Create your own application', 'Single sign-on', 'SAML'],
      fields: [
        { name: 'Reply URL (Assertion Consumer Service URL)', value: 'ACS', to: 1 },
        { name: 'Identifier (Entity ID)', value: 'entity id', to: 2 },
        { name: 'Attributes & Claims: Unique User Identifier', value: 'user.objectid, Persistent' },
        { name: 'Attributes & Claims, without a namespace', value: 'Username = user.mailnickname, email = user.mail' },
        { name: 'Attributes & Claims: group claim', value: 'MemberOf' },
        { name: 'Federation Metadata XML', value: 'download it as metadata.xml', from: 3 },
      ],
    },
  },
  {
    name: 'saml-keycloak',
    title: 'SAML with Keycloak',
    left: saml,
    right: {
      title: 'Keycloak admin console',
      path: ['Clients', 'Create client'],
      fields: [
        { name: 'Client type', value: 'SAML' },
        { name: 'Valid redirect URIs', value: 'ACS', to: 1 },
        { name: 'Client ID', value: 'entity id', to: 2 },
        { name: 'Name ID format', value: 'persistent' },
        { name: 'Sign assertions', value: 'On' },
        { name: '/realms/<realm>/protocol/saml/descriptor', value: 'save it as metadata.xml', from: 3 },
      ],
    },
  },
  {
    name: 'scim-okta',
    title: 'Provisioning by Okta',
    left: scim,
    right: {
      title: 'Okta',
      path: [
        'Applications',
        'your app',
        'General',
        'App Settings',
        'Provisioning: SCIM',
        'Provisioning',
        'Integration',
      ],
      fields: [
        { name: 'SCIM connector base URL', value: 'base-url', to: 1 },
        { name: 'Unique identifier field for users', value: 'userName' },
        { name: 'Supported provisioning actions', value: 'Push New Users, Push Profile Updates, Push Groups' },
        { name: 'Authentication Mode', value: 'HTTP Header' },
        { name: 'Authorization', value: 'token', to: 2 },
        { name: 'To App', value: 'Create Users, Update User Attributes, Deactivate Users' },
      ],
    },
  },
  {
    name: 'scim-entra',
    title: 'Provisioning by Microsoft Entra ID',
    left: scim,
    right: {
      title: 'Microsoft Entra admin center',
      path: ['Enterprise applications', 'your application', 'Provisioning', 'New configuration'],
      fields: [
        { name: 'Tenant URL', value: 'base-url', to: 1 },
        { name: 'Secret token', value: 'token', to: 2 },
        { name: 'Test connection', value: 'answers that the credentials work' },
      ],
    },
  },
  {
    name: 'slack',
    title: 'A Slack app whose messages have buttons',
    left: {
      title: 'Slack',
      path: ['api.slack.com/apps', 'Create New App', 'From a manifest'],
      fields: [
        { name: 'Address of Slack in a browser', value: 'T…, the id of your Slack workspace', from: 1 },
        { name: 'Basic Information: Client ID', value: 'copy', from: 2 },
        { name: 'Basic Information: Client Secret', value: 'copy', from: 3 },
        { name: 'Basic Information: Signing Secret', value: 'copy', from: 4 },
        { name: 'App Manifest: redirect_urls', value: 'the address', to: 5 },
        { name: 'App Manifest: request_url', value: 'the address', to: 6 },
      ],
    },
    right: {
      title: 'stepform',
      path: ['Settings', 'General', 'Slack', 'Set up Slack app'],
      fields: [
        { name: 'Workspace ID', value: 'T…', to: 1 },
        { name: 'Client ID', value: 'client ID', to: 2 },
        { name: 'Client secret', value: 'client secret', to: 3 },
        { name: 'Signing secret', value: 'signing secret', to: 4 },
        { name: 'After Save: Redirect URL', value: 'copy', from: 5 },
        { name: 'After Save: Interactivity request URL', value: 'copy', from: 6 },
      ],
    },
  },
];
