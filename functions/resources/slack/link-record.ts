/** A member's account in the organization's Slack workspace. */
export interface SlackLink {
  /** Id of the Slack workspace. */
  teamId: string;
  /** Id of the user in it. */
  userId: string;
  /** UTC, ISO 8601. */
  linkedAt: string;
}
