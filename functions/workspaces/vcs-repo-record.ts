/** The repository that a workspace takes its configuration from (HCP API: workspaces, vcs-repo). */
export interface VcsRepo {
  identifier: string;
  /** As given; empty for the default branch. */
  branch: string;
  ingressSubmodules: boolean;
  tagsRegex: string | null;
  oauthTokenId: string;
  /** API name of the provider. */
  serviceProvider: string;
  clientName: string | null;
  httpUrl: string;
  webhookUrl: string;
  /** The platform's record of it (version-control/repositories.ts). */
  repository: string;
  clientId: string;
}
