import type { Expected } from '../results.ts';

/** Acceptance tests of the provider `tfe` that do not pass. */
export const provider: Expected = {
  failing: [
    {
      reason: 'they enter texts as certificates and keys ("testIDPCert"), and SHA-1',
      tests: [
        'TestAccTFESAMLSettingsDataSource_basic',
        'TestAccTFESAMLSettings_omnibus',
        'TestAccTFESAMLSettings_writeOnly',
      ],
    },
    {
      reason: 'stacks are not served',
      tests: [
        'TestAccStackVariableSet_basic',
        'TestAccStackVariableSet_import',
        'TestAccTFEOrganization_update_stacks_enabled',
        'TestAccTFEStackResource_basic',
        'TestAccTFEStackResource_importByIdentity',
        'TestAccTFEStackResource_noVCSRepo',
        'TestAccTFEStackResource_withAgentPool',
      ],
    },
  ],
  apart: [
    {
      reason: "they need the internet: Terraform's registry has their providers, app.terraform.io the API",
      tests: [
        'TestAccTFEQueryRun_WaitForLatestConfiguration',
        'TestAccTFEQueryRun_WithExplicitConfigVersion',
        'TestAccTFEVariable_rewrite',
        'TestAccTeamTokenEphemeralResource_basic',
        'TestAccTeamTokenEphemeralResource_expiredAt',
        'TestConfigureEnvOnCloudUsingConfigFiles',
      ],
    },
    {
      reason: 'they need a GitHub token, and do not skip themselves without it',
      tests: [
        'TestAccTFENoCodeModule_update_variable_options',
        'TestAccTFENoCodeModule_with_variable_options',
        'TestAccTFENoCodeModule_with_variable_options_empty_options',
        'TestAccTFENoCodeModule_with_variable_options_no_options',
        'TestAccTFENoCodeModule_with_version_pin',
        'TestAccTFEProjectOAuthClient_basic',
        'TestAccTFEProjectOAuthClient_incorrectImportSyntax',
        'TestAccTFERegistryModuleDataSource_basicNoCodePrivate',
        'TestAccTFERegistryModuleDataSource_basicPrivate',
      ],
    },
    {
      reason: 'they need an organization with a plan without global run tasks or audit configuration',
      tests: [
        'TestAccTFEOrganizationAuditConfigurationDataSource_disallowed',
        'TestAccTFEOrganizationRunTaskGlobalSettings_createUnsupported',
      ],
    },
    {
      reason: 'the provider reads "0.5h" back as "0.50h", and "30d" as "1mo", from any server',
      tests: [
        'TestAccTFEOrgMaxTokenTTLPolicyDataSource_withResource',
        'TestAccTFEOrgMaxTokenTTLPolicy_basic',
        'TestAccTFEOrgMaxTokenTTLPolicy_import',
        'TestAccTFEOrgMaxTokenTTLPolicy_update',
      ],
    },
    {
      reason: 'the provider reads an empty set of triggers back as null, from any server',
      tests: [
        'TestAccTFEProjectNotificationConfiguration_basic',
        'TestAccTFEProjectNotificationConfiguration_emailUserIDs',
        'TestAccTFEProjectNotificationConfiguration_update',
      ],
    },
  ],
  skips: [
    /Please set (GITHUB_\w+|TFE_USER\d) to run this test/,
    /Skipping test for a feature unavailable in HCP Terraform/,
    /Skipping tests for HYOK/,
    /an organization membership must first be confirmed/,
    /temporarily skipped due to flakiness/,
    /Temporarily skipping test due to external issues: TestSkipUnlessAfterDate/,
    /until the SDK can support importing resources before applying a configuration/,
  ],
};
