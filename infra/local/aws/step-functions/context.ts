/** The context object, `$$` (Developer Guide: context object). Times are ISO 8601 in UTC. */
export interface Context {
  Execution: {
    Id: string;
    Input: unknown;
    Name: string;
    RoleArn: string;
    StartTime: string;
    RedriveCount: number;
    RedriveTime?: string;
  };
  StateMachine: { Id: string; Name: string };
  State?: { Name: string; EnteredTime: string; RetryCount?: number };
  Task?: { Token: string };
  Map?: { Item: { Index: number; Value: unknown } };
}
