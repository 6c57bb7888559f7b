#!/usr/bin/env python3
"""What GitHub, GitLab, Gitea and Forgejo send: answers of their APIs and bodies of their webhooks, with all members, in their own names.

forge_shapes.py FORGE EVENT [NAME=VALUE...]  prints the body of a webhook, in one line: labeled, commented, push, and of GitHub ping;
                                             NAME: who, who_id, head, text, label, project
tests/flopwatchd/test_forge_schemas.sh holds them against what the forges publish.
"""
import json
import sys

NOW = "2026-11-21T02:46:00Z"
SITE = "https://forge.invalid"
HEAD = "1" * 40
MESSAGES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 410: "Gone", 422: "Validation Failed",
            429: "You have exceeded a secondary rate limit", 500: "Internal Server Error", 503: "Service Unavailable"}


def error(forge, status, message=""):
    """Body and type of an answer that refuses."""
    text = message or MESSAGES[status]
    if forge == "gitlab":
        return ("Retry later\n", "text/plain") if status == 429 else (json.dumps({"message": message or f"{status} {text}"}), "application/json")
    if forge == "github":
        body = {"message": text, "documentation_url": SITE + "/rest", "status": str(status)}
        if status == 422:
            del body["status"]
            body["errors"] = [{"resource": "CheckRun", "field": "name", "code": "missing_field"}]
    else:
        body = {"message": text, "url": SITE + "/api/swagger"}
        if status == 404:
            body["errors"] = []
    return json.dumps(body), "application/json"


# ---- people ----
def github_user(login, number=3):
    at = f"{SITE}/users/{login}"
    lists = ("followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events", "received_events")
    return {"login": login, "id": number, "node_id": "U_1", "avatar_url": at + "/avatar", "gravatar_id": "", "url": at, "html_url": at, "type": "User",
            "site_admin": False, **{f"{name}_url": f"{at}/{name}" for name in lists}}


def gitea_user(login, number=3):
    return {"id": number, "login": login, "login_name": "", "source_id": 0, "full_name": "", "email": f"{login}@noreply.invalid",
            "avatar_url": f"{SITE}/avatars/{login}", "html_url": f"{SITE}/{login}", "language": "", "is_admin": False, "last_login": "0001-01-01T00:00:00Z",
            "created": NOW, "restricted": False, "active": False, "prohibit_login": False, "location": "", "website": "", "description": "",
            "visibility": "public", "followers_count": 0, "following_count": 0, "starred_repos_count": 0}


def gitlab_user(login, number=3):
    return {"id": number, "username": login, "name": login.title(), "state": "active", "avatar_url": f"{SITE}/{login}.png", "web_url": f"{SITE}/{login}"}


def person_of(stored, key):
    one = stored.get(key, {})
    return one.get("login") or one.get("username") or "flopwatch", one.get("id", 3)


# ---- answers ----
def comment(forge, stored, number=7):
    """A comment as its forge answers it; stored: id, body and whatever the test gave."""
    one = {"id": stored["id"], "body": stored["body"], "created_at": stored.get("created_at", NOW), "updated_at": stored.get("updated_at", NOW)}
    at = f"{SITE}/team/kernels/pull/{number}"
    if forge == "gitlab":
        return {**one, "attachment": None, "author": gitlab_user(*person_of(stored, "author")), "system": stored.get("system", False), "noteable_id": 70,
                "noteable_type": "MergeRequest", "noteable_iid": number, "project_id": 12, "resolvable": False, "confidential": False, "internal": False,
                "imported": stored.get("imported", False), "imported_from": "none"}
    if forge == "github":
        given = {name: stored[name] for name in ("original_author", "original_author_id", "imported") if name in stored}
        return {**one, "node_id": "IC_1", "url": f"{SITE}/comments/{one['id']}", "html_url": f"{at}#{one['id']}", "issue_url": at,
                "user": github_user(*person_of(stored, "user")), "author_association": "MEMBER", "performed_via_github_app": None, **given}
    return {**one, "html_url": f"{at}#issuecomment-{one['id']}", "issue_url": "", "pull_request_url": at, "user": gitea_user(*person_of(stored, "user")),
            "assets": [], "original_author": stored.get("original_author", ""), "original_author_id": stored.get("original_author_id", 0)}


def status(forge, sent, sha):
    at = f"{SITE}/statuses/{sha}"
    one = {"id": 1, "description": sent.get("description"), "target_url": sent.get("target_url", "")}
    if forge == "gitlab":
        return {**one, "status": sent["state"], "name": sent["name"], "sha": sha, "ref": "main", "allow_failure": False, "created_at": NOW,
                "author": gitlab_user("flopwatch")}
    one = {**one, "url": at, "context": sent["context"], "created_at": NOW, "updated_at": NOW}
    if forge == "github":
        return {**one, "node_id": "S_1", "avatar_url": SITE + "/avatar", "state": sent["state"], "creator": github_user("flopwatch")}
    return {**one, "status": sent["state"], "creator": gitea_user("flopwatch")}


def check_run(stored):
    at = f"{SITE}/check-runs/{stored['id']}"
    output = stored.get("output", {})
    has_ended = stored.get("status") == "completed"
    return {"id": stored["id"], "node_id": "CR_1", "head_sha": stored["head_sha"], "name": stored["name"], "url": at, "html_url": at,
            "details_url": stored.get("details_url"), "status": stored.get("status", "queued"), "conclusion": stored.get("conclusion"),
            "started_at": NOW, "completed_at": NOW if has_ended else None, "external_id": "", "check_suite": {"id": 5}, "app": None, "pull_requests": [],
            "output": {"title": output.get("title"), "summary": output.get("summary"), "text": None,
                       "annotations_count": len(output.get("annotations", [])), "annotations_url": at + "/annotations"}}


def permission(forge, login, found):
    if forge != "github":
        return {"permission": found, "role_name": "", "user": gitea_user(login)}
    rights = ("pull", "triage", "push", "maintain", "admin")
    rank = {"none": 0, "read": 1, "write": 3, "admin": 5}[found]
    user = {**github_user(login), "role_name": found, "permissions": {name: i < rank for i, name in enumerate(rights)}}
    return {"permission": found, "role_name": found, "user": user}


def member(number, level):
    return {**gitlab_user("ann", number), "access_level": level, "expires_at": "2027-11-21", "email": "ann@example.org"}


# ---- webhooks ----
def github_repository(project):
    owner, name = project.split("/")
    at = f"{SITE}/repos/{project}"
    addresses = ("archive assignees blobs branches collaborators comments commits compare contents contributors deployments downloads events forks git_commits "
                 "git_refs git_tags hooks issue_comment issue_events issues keys labels languages merges milestones notifications pulls releases stargazers "
                 "statuses subscribers subscription tags teams trees")
    return {"id": 1, "node_id": "R_1", "name": name, "full_name": project, "private": False, "owner": github_user(owner), "html_url": f"{SITE}/{project}",
            "description": None, "fork": False, "url": at, **{f"{one}_url": f"{at}/{one}" for one in addresses.split()}, "created_at": NOW, "updated_at": NOW,
            "pushed_at": NOW, "git_url": f"git://forge.invalid/{project}.git", "ssh_url": f"git@forge.invalid:{project}.git",
            "clone_url": f"{SITE}/{project}.git", "svn_url": f"{SITE}/{project}", "homepage": None, "size": 1, "stargazers_count": 0, "watchers_count": 0,
            "language": None, "has_issues": True, "has_projects": False, "has_downloads": True, "has_wiki": False, "has_pages": False, "has_discussions": False,
            "forks_count": 1, "mirror_url": None, "archived": False, "disabled": False, "open_issues_count": 1, "license": None, "allow_forking": True,
            "is_template": False, "web_commit_signoff_required": False, "topics": [], "visibility": "public", "forks": 1, "open_issues": 1, "watchers": 0,
            "default_branch": "main"}


def github_pull(project, head, label):
    at = f"{SITE}/repos/{project}/pulls/7"
    ann = github_user("ann", 4)
    addresses = ("diff", "patch", "issue", "commits", "review_comments", "review_comment", "comments", "statuses")
    return {"url": at, "id": 70, "node_id": "PR_1", "html_url": f"{SITE}/{project}/pull/7", **{f"{one}_url": f"{at}/{one}" for one in addresses}, "number": 7,
            "state": "open", "locked": False, "title": "slower", "user": ann, "body": None, "created_at": NOW, "updated_at": NOW, "closed_at": None,
            "merged_at": None, "merge_commit_sha": "2" * 40, "assignee": None, "assignees": [], "requested_reviewers": [], "requested_teams": [],
            "labels": [github_label(label)], "milestone": None, "draft": False,
            "head": {"label": "ann:slow", "ref": "slow", "sha": head, "user": ann, "repo": None},
            "base": {"label": "team:main", "ref": "main", "sha": "3" * 40, "user": github_user("team", 5), "repo": github_repository(project)},
            "_links": {one: {"href": f"{at}/{one}"} for one in ("self", "html", "issue", "comments", "review_comments", "review_comment", "commits", "statuses")},
            "author_association": "NONE", "auto_merge": None, "active_lock_reason": None, "merged": False, "mergeable": None, "rebaseable": None,
            "mergeable_state": "unknown", "merged_by": None, "comments": 0, "review_comments": 0, "maintainer_can_modify": False, "commits": 1, "additions": 1,
            "deletions": 1, "changed_files": 1}


def github_label(name):
    return {"id": 9, "node_id": "LA_1", "url": f"{SITE}/labels/{name}", "name": name, "color": "ededed", "default": False, "description": None}


REACTIONS = {"url": SITE + "/reactions", "total_count": 0, **{name: 0 for name in ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")}}


def github_event(event, who, text, head, label, project, **_):
    by = {"repository": github_repository(project), "sender": github_user(who)}
    at = f"{SITE}/repos/{project}/issues/7"
    if event == "labeled":
        return {"action": "labeled", "number": 7, "pull_request": github_pull(project, head, label), "label": github_label(label), **by}
    if event == "commented":
        issue = {"url": at, "repository_url": f"{SITE}/repos/{project}", **{f"{one}_url": f"{at}/{one}" for one in ("labels", "comments", "events", "timeline")},
                 "html_url": f"{SITE}/{project}/pull/7", "id": 70, "node_id": "PR_1", "number": 7, "title": "slower", "user": github_user("ann", 4),
                 "labels": [], "state": "open", "locked": False, "assignee": None, "assignees": [], "milestone": None, "comments": 1, "created_at": NOW,
                 "updated_at": NOW, "closed_at": None, "author_association": "NONE", "active_lock_reason": None, "body": None, "reactions": REACTIONS,
                 "performed_via_github_app": None, "state_reason": None, "draft": False,
                 "pull_request": {"url": f"{SITE}/repos/{project}/pulls/7", "html_url": f"{SITE}/{project}/pull/7", "diff_url": f"{SITE}/{project}/pull/7.diff",
                                  "patch_url": f"{SITE}/{project}/pull/7.patch", "merged_at": None}}
        return {"action": "created", "issue": issue, "comment": {**comment("github", {"id": 90, "body": text, "user": {"login": who}}), "reactions": REACTIONS}, **by}
    if event == "ping":
        hook = {"type": "Repository", "id": 5, "name": "web", "active": True, "events": ["push"], "created_at": NOW, "updated_at": NOW,
                "config": {"content_type": "json", "insecure_ssl": "0", "url": "https://bench.example.org/api/v1/hooks/kernels"},
                "url": f"{SITE}/repos/{project}/hooks/5", "test_url": f"{SITE}/repos/{project}/hooks/5/test", "ping_url": f"{SITE}/repos/{project}/hooks/5/pings",
                "deliveries_url": f"{SITE}/repos/{project}/hooks/5/deliveries", "last_response": {"code": None, "status": "unused", "message": None}}
        return {"zen": "Keep it logically awesome.", "hook_id": 5, "hook": hook, **by}
    person = {"name": who, "email": f"{who}@example.org", "username": who}
    one = {"id": head, "tree_id": "4" * 40, "distinct": True, "message": "slower", "timestamp": NOW, "url": f"{SITE}/{project}/commit/{head}", "author": person,
           "committer": person, "added": [], "removed": [], "modified": ["kernels/a.cu"]}
    by["repository"] = {**by["repository"], "created_at": 1763693160, "pushed_at": 1763693160, "stargazers": 0, "master_branch": "main"}
    return {"ref": "refs/heads/main", "before": "3" * 40, "after": head, "created": False, "deleted": False, "forced": False, "base_ref": None,
            "compare": f"{SITE}/{project}/compare/a...b", "commits": [one], "head_commit": one, "pusher": {"name": who, "email": f"{who}@example.org"}, **by}


def gitea_event(event, who, text, head, label, project, **_):
    owner, name = project.split("/")
    at = f"{SITE}/{project}"
    one_label = {"id": 9, "name": label, "exclusive": False, "is_archived": False, "color": "ededed", "description": "", "url": f"{at}/labels/9"}
    repository = {"id": 1, "owner": gitea_user(owner, 5), "name": name, "full_name": project, "description": "", "empty": False, "private": False, "fork": False,
                  "template": False, "mirror": False, "size": 1, "language": "", "languages_url": at + "/languages", "html_url": at, "url": at, "link": "",
                  "ssh_url": f"git@forge.invalid:{project}.git", "clone_url": at + ".git", "original_url": "", "website": "", "stars_count": 0, "forks_count": 1,
                  "watchers_count": 1, "open_issues_count": 0, "open_pr_counter": 1, "release_counter": 0, "default_branch": "main", "archived": False,
                  "created_at": NOW, "updated_at": NOW, "permissions": {"admin": False, "push": False, "pull": True}, "has_issues": True, "has_wiki": False,
                  "has_pull_requests": True, "object_format_name": "sha1"}
    by = {"repository": repository, "sender": gitea_user(who)}
    base = {"id": 70, "url": at + "/pulls/7", "html_url": at + "/pulls/7", "number": 7, "user": gitea_user("ann", 4), "title": "slower", "body": "", "labels": [one_label],
            "milestone": None, "assignees": None, "state": "open", "is_locked": False, "comments": 1, "created_at": NOW, "updated_at": NOW, "closed_at": None,
            "due_date": None, "pin_order": 0}
    base = {key: value for key, value in base.items() if value is not None}
    if event == "labeled":
        branch = {"label": "slow", "ref": "slow", "sha": head, "repo_id": 2, "repo": {**repository, "id": 2, "full_name": f"ann/{name}"}}
        pull = {**base, "diff_url": at + "/pulls/7.diff", "patch_url": at + "/pulls/7.patch", "mergeable": True, "merged": False, "allow_maintainer_edit": False,
                "base": {"label": "main", "ref": "main", "sha": "3" * 40, "repo_id": 1, "repo": repository}, "head": branch, "merge_base": "3" * 40, "draft": False}
        return {"action": "label_updated", "number": 7, "changes": {"added_labels": [one_label]}, "pull_request": pull, **by}
    if event == "commented":
        issue = {**base, "original_author": "", "original_author_id": 0, "ref": "", "assets": [], "pull_request": {"merged": False, "draft": False, "html_url": at + "/pulls/7"},
                 "repository": {"id": 1, "name": name, "owner": owner, "full_name": project}}
        return {"action": "created", "issue": issue, "comment": comment("gitea", {"id": 90, "body": text, "user": {"login": who}}), "is_pull": True, **by}
    return {"ref": "refs/heads/main", "before": "3" * 40, "after": head, "compare_url": at + "/compare/a...b", "commits": [], "total_commits": 0, "head_commit": None,
            "pusher": gitea_user(who), **by}


def gitlab_event(event, who, who_id, text, head, label, project, **_):
    namespace, name = project.split("/")
    at = f"{SITE}/{project}"
    described = {"id": 12, "name": name, "description": "", "web_url": at, "avatar_url": None, "git_ssh_url": f"git@forge.invalid:{project}.git", "git_http_url": at + ".git",
                 "namespace": namespace, "visibility_level": 20, "path_with_namespace": project, "default_branch": "main", "homepage": at,
                 "url": f"git@forge.invalid:{project}.git", "ssh_url": f"git@forge.invalid:{project}.git", "http_url": at + ".git"}
    repository = {"name": name, "url": described["url"], "description": "", "homepage": at}
    user = gitlab_user(who, int(who_id))
    last = {"id": head, "message": "slower", "title": "slower", "timestamp": NOW, "url": f"{at}/-/commit/{head}", "author": {"name": "ann", "email": "ann@example.org"}}
    one_label = {"id": 9, "title": label, "color": "#ededed", "project_id": 12, "created_at": NOW, "updated_at": NOW, "template": False, "description": "",
                 "type": "ProjectLabel", "group_id": 0}
    addresses = {"git_http_url": described["git_http_url"], "git_ssh_url": described["git_ssh_url"], "visibility_level": 20}
    by = {"event_name": {"labeled": "merge_request", "commented": "note"}.get(event, "push"), "user": user, "project": described}
    if event == "labeled":
        attributes = {"id": 70, "iid": 7, "target_branch": "main", "source_branch": "slow", "source_project_id": 13, "author_id": 4, "assignee_ids": [], "reviewer_ids": [],
                      "title": "slower", "created_at": NOW, "updated_at": NOW, "last_edited_at": NOW, "last_edited_by_id": 4, "milestone_id": None, "state_id": 1,
                      "state": "opened", "blocking_discussions_resolved": True, "work_in_progress": False, "draft": False, "first_contribution": False,
                      "merge_commit_sha": "", "target_project_id": 12, "description": "", "total_time_spent": 0, "time_change": 0, "human_total_time_spent": "",
                      "human_time_change": "", "human_time_estimate": "", "url": at + "/-/merge_requests/7", "source": {**described, "id": 13}, "target": described,
                      "last_commit": last, "labels": [one_label], "action": "update", "detailed_merge_status": "mergeable"}
        return {"object_kind": "merge_request", "event_type": "merge_request", **by, "repository": {**repository, **addresses},
                "object_attributes": attributes, "labels": [one_label],
                "changes": {"labels": {"previous": [], "current": [one_label]}}, "assignees": [], "reviewers": []}
    if event == "commented":
        request = {"id": 70, "target_branch": "main", "source_branch": "slow", "source_project_id": 13, "author_id": 4, "assignee_id": 0, "title": "slower",
                   "created_at": NOW, "updated_at": NOW, "milestone_id": 0, "state": "opened", "merge_status": "can_be_merged", "target_project_id": 12, "iid": 7,
                   "description": "", "position": 0, "labels": [], "source": described, "target": described,
                   "last_commit": {key: value for key, value in last.items() if key != "title"}, "work_in_progress": False, "draft": False, "assignee": None,
                   "detailed_merge_status": "mergeable"}
        note = {"id": 90, "note": text, "noteable_type": "MergeRequest", "discussion_id": "d", "author_id": int(who_id), "created_at": NOW, "updated_at": NOW,
                "project_id": 12, "attachment": None, "line_code": "", "commit_id": "", "noteable_id": None, "system": False, "st_diff": None,
                "url": at + "/-/merge_requests/7#note_90", "action": "create"}
        return {"object_kind": "note", "event_type": "note", **by, "project_id": 12, "repository": repository, "object_attributes": note, "merge_request": request}
    del by["user"]
    return {"object_kind": "push", **by, "before": "3" * 40, "after": head, "ref": "refs/heads/main", "ref_protected": True, "checkout_sha": head,
            "user_id": int(who_id), "user_name": who, "user_username": who, "user_email": "", "user_avatar": "", "project_id": 12,
            "repository": {**repository, **addresses}, "commits": [], "total_commits_count": 0}


EVENTS = {"github": github_event, "gitea": gitea_event, "forgejo": gitea_event, "gitlab": gitlab_event}

if __name__ == "__main__":
    values = {"who": "ann", "who_id": "3", "head": HEAD, "text": "looks good", "label": "measure", "project": "team/kernels"}
    values.update(argument.split("=", 1) for argument in sys.argv[3:])
    print(json.dumps(EVENTS[sys.argv[1]](sys.argv[2], **values)))
