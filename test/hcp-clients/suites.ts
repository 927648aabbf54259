import { goTfe } from './expected/go-tfe.ts';
import { provider } from './expected/provider.ts';
import type { Expected } from './results.ts';

/** Test suites of HCP Terraform's clients, as the Go module proxy has them. Nothing of them is part of this project. */
export interface Suite {
  name: string;
  module: string;
  version: string;
  /** Package with the tests, relative to the module. */
  package: string;
  tags?: string[];
  /** Changes of the source before it is compiled. */
  edits: Edit[];
  /** It starts Terraform. */
  usesTerraform?: true;
  /** Tests at a time, and processes among which the tests are divided: the provider's tests run one after the other. */
  parallel: number;
  processes: number;
  expected: Expected;
  /** Some tests of every kind, for a short check. */
  quick: RegExp;
}

export interface Edit {
  /** Relative to the package. */
  file: string;
  from: RegExp;
  to: string;
}

/** Every organization has all features, and there is no site administration to buy them for it. */
const withoutSubscriptions: Edit = {
  file: 'subscription_updater_test.go',
  from: /(\) Update\(t \*testing\.T\) \{)/,
  to: '$1\n\treturn',
};

/** The platform's own agent, which starts with the variables of HashiCorp's. */
const ownAgent: Edit = {
  file: 'helper_test.go',
  from: /agentPath, err := downloadTFCAgent\(t\)/,
  to: 'agentPath, err := os.Getenv("STEPFORM_AGENT"), error(nil)',
};

/** Terraform's own resource instead of those of a provider, which only a registry has. */
const withoutProviders = (file: string): Edit => ({
  file,
  from: /null_resource|random_pet|time_sleep/g,
  to: 'terraform_data',
});

const waiting: Edit = {
  file: 'test-fixtures/config-version-with-test/main.tf',
  from: /create_duration = (.*)/,
  to: 'provisioner "local-exec" {\n    command = "sleep $${$1}"\n  }',
};

/** Of the provider's only configuration with `random_pet`. */
const randomPet: Edit[] = [
  { from: / {2}required_providers \{[\s\S]*?\n {2}\}\n/, to: '' },
  { from: /keepers =/, to: 'triggers_replace =' },
  { from: / {2}length = \d+\n/, to: '' },
].map((one) => ({ file: 'test-fixtures/basic-config/main.tf', ...one }));

/** Of one test, an organization that exists already: TFE_ORGANIZATION would be the default of all others. */
const existingOrganization: Edit = {
  file: 'resource_tfe_team_access_test.go',
  from: /os\.Getenv\("TFE_ORGANIZATION"\)/,
  to: 'os.Getenv("STEPFORM_ORGANIZATION")',
};

/**
 * New workspaces do not share their states, as in HCP Terraform since 2021. The suite expects the opposite default, which
 * administrators of Terraform Enterprise may choose (support.hashicorp.com: Accessing a Workspace's State Data).
 */
const stateSharing: Edit = {
  file: 'resource_tfe_workspace_test.go',
  from: /(TestCheckResourceAttr\("tfe_workspace\.foobar", "global_remote_state"), "true"\)/,
  to: '$1, "false")',
};

/** The syntax since OPA 1.0: sets without a version use the platform's OPA. */
const inNewRego: Edit[] = ['true', 'false'].map((value) => ({
  file: 'helper_test.go',
  from: new RegExp(`package example rule\\["not allowed"\\] \\{ ${value} \\}`),
  to: `package example\nrule contains "not allowed" if { ${value} }`,
}));

export const suites: Suite[] = [
  {
    name: 'go-tfe',
    module: 'github.com/hashicorp/go-tfe',
    version: '1.111.2',
    package: '.',
    tags: ['integration'],
    edits: [
      withoutSubscriptions,
      ...inNewRego,
      ownAgent,
      withoutProviders('test-fixtures/config-version/main.tf'),
      withoutProviders('test-fixtures/config-version-with-test/main.tf'),
      waiting,
    ],
    parallel: 8,
    processes: 1,
    expected: goTfe,
    quick: /^Test(Workspaces|Variables|Projects|Teams|StateVersions|RunsCreate)/,
  },
  {
    name: 'provider',
    module: 'github.com/hashicorp/terraform-provider-tfe',
    version: '0.79.0',
    package: 'internal/provider',
    edits: [
      withoutSubscriptions,
      existingOrganization,
      stateSharing,
      withoutProviders('test-fixtures/basic-config/main.tf'),
      ...randomPet,
    ],
    usesTerraform: true,
    parallel: 3,
    processes: 3,
    expected: provider,
    quick: /^TestAccTFE(Workspace|Project|Variable|Team)_basic$/,
  },
];
