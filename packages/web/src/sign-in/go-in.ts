import { isTabOfAnother } from '../api/session.ts'
import { startAfresh } from '../api/session-over.ts'
import { forgetDrafts } from '../forms/draft.ts'

/** Opens a path for who has signed in; the start, and without drafts, where the tab was another person's. */
export function goIn(personId: string, path = '/'): void {
	const isAnothers = isTabOfAnother(personId)
	if (isAnothers) forgetDrafts()
	startAfresh(isAnothers ? '/' : path)
}
