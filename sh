Test that sand at rest stays, and wakes as if it had not slept -c echo Test that sand at rest stays, and wakes as if it had not slept > /work/main/.git/worktrees/lead/COMMIT_EDITMSG
