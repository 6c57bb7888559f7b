// The operations of GitLab, Gitea and Forgejo that flopwatch uses, by the types of their clients: forge_schemas.mjs makes JSON schemas of them.
// A member is "FORGE NAME"; members of GitLab's types have the names of the client, which sends them with underscores.
import type * as GitLab from "@gitbeaker/core";
import type * as Gitea from "gitea-js";
import type * as Forgejo from "forgejo";

type Notes = GitLab.MergeRequestNotes;
type Note = GitLab.MergeRequestNoteSchema;
type Repos = Gitea.Api<unknown>["repos"];
/** What the types of Forgejo state about an operation. */
type Stated<Data extends { body?: unknown; query?: unknown; url: string }, Answers, Errors> = {
	url: Data["url"];
	body: NonNullable<Data["body"]>;
	query: NonNullable<Data["query"]>;
	answers: Answers;
	errors: Errors & Omit<ForgejoErrors, keyof Errors>;
};
/** What Gitea answers: the types of its client do not state which error an operation has, nor the member of a 404 that its description has. */
type GiteaErrors = { 400: Gitea.APIError; 401: Gitea.APIError; 403: Gitea.APIError; 404: Gitea.APIError & { errors?: string[] }; 422: Gitea.APIError; 429: Gitea.APIError; 500: Gitea.APIError };
/** The errors of Forgejo that an operation need not list. */
type ForgejoErrors = { 400: Forgejo.ApiError; 401: Forgejo.ApiUnauthorizedError; 403: Forgejo.ApiForbiddenError; 404: Forgejo.ApiNotFound; 422: Forgejo.ApiValidationError; 429: Forgejo.ApiError; 500: Forgejo.ApiInternalServerError };
/** GitLab documents its errors in words; its client reads `error` or `message`. Its limiter answers text. */
type GitLabError = { message: string | Record<string, unknown> } | { error: string; error_description?: string; scope?: string };
type GitLabErrors = { 400: GitLabError; 401: GitLabError; 403: GitLabError; 404: GitLabError; 422: GitLabError; 429: "Retry later\n"; 500: GitLabError };
type Labeled = GitLab.WebhookMergeRequestEventSchema;

export interface Operations {
	"gitlab status": {
		body: { state: Parameters<GitLab.Commits["editStatus"]>[2] } & NonNullable<Parameters<GitLab.Commits["editStatus"]>[3]>;
		answers: { 201: GitLab.CommitStatusSchema }; errors: GitLabErrors;
	};
	"gitlab list": { query: NonNullable<Parameters<Notes["all"]>[2]>; answers: { 200: Note[] }; errors: GitLabErrors };
	"gitlab comment": { body: { body: Parameters<Notes["create"]>[2] } & NonNullable<Parameters<Notes["create"]>[3]>; answers: { 201: Note }; errors: GitLabErrors };
	"gitlab change": { body: Parameters<Notes["edit"]>[3]; answers: { 200: Note }; errors: GitLabErrors };
	// Only a member of a group with SAML has what MemberSchema adds.
	"gitlab member": { answers: { 200: GitLab.SimpleMemberSchema }; errors: GitLabErrors };

	"gitea status": { body: Parameters<Repos["repoCreateStatus"]>[3]; answers: { 201: Gitea.CommitStatus }; errors: GiteaErrors };
	"gitea list": { query: NonNullable<Parameters<Repos["issueGetComments"]>[3]>; answers: { 200: Gitea.Comment[] }; errors: GiteaErrors };
	"gitea comment": { body: Parameters<Repos["issueCreateComment"]>[3]; answers: { 201: Gitea.Comment }; errors: GiteaErrors };
	"gitea change": { body: Parameters<Repos["issueEditComment"]>[3]; answers: { 200: Gitea.Comment }; errors: GiteaErrors };
	"gitea member": { answers: { 200: Gitea.RepoCollaboratorPermission }; errors: GiteaErrors };

	"forgejo status": Stated<Forgejo.RepoCreateStatusData, Forgejo.RepoCreateStatusResponses, Forgejo.RepoCreateStatusErrors>;
	"forgejo list": Stated<Forgejo.IssueGetCommentsData, Forgejo.IssueGetCommentsResponses, Forgejo.IssueGetCommentsErrors>;
	"forgejo comment": Stated<Forgejo.IssueCreateCommentData, Forgejo.IssueCreateCommentResponses, Forgejo.IssueCreateCommentErrors>;
	"forgejo change": Stated<Forgejo.IssueEditCommentData, Forgejo.IssueEditCommentResponses, Forgejo.IssueEditCommentErrors>;
	"forgejo member": Stated<Forgejo.RepoGetRepoPermissionsData, Forgejo.RepoGetRepoPermissionsResponses, Forgejo.RepoGetRepoPermissionsErrors>;
}

/** Bodies of webhooks. Those of Gitea are in no schema: only the objects in them are. */
export interface Events {
	// An event lists only what has changed; the types require all.
	"gitlab merge_request": Omit<Labeled, "changes"> & { changes: Partial<Labeled["changes"]> };
	"gitlab note": GitLab.WebhookMergeRequestNoteEventSchema;
	"gitlab push": GitLab.WebhookPushEventSchema;
	"gitea pull_request": { action: string; number: number; pull_request: Gitea.PullRequest; repository: Gitea.Repository; sender: Gitea.User; changes?: { added_labels?: Gitea.Label[]; removed_labels?: Gitea.Label[] } };
	"gitea issue_comment": { action: string; issue: Gitea.Issue; comment: Gitea.Comment; repository: Gitea.Repository; sender: Gitea.User; is_pull: boolean };
	"gitea push": { ref: string; before: string; after: string; compare_url: string; commits: Gitea.PayloadCommit[]; total_commits: number; head_commit: Gitea.PayloadCommit | null; repository: Gitea.Repository; pusher: Gitea.User; sender: Gitea.User };
}
