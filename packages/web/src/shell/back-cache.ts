import type { QueryClient } from '@tanstack/react-query'
import { isStill, sessionQuery } from '../api/session.ts'

/** A page that comes back as it was left shows nothing until it is known that the same person is still signed in. */
export function askBeforeShownAgain(client: QueryClient): void {
	addEventListener('pageshow', async ({ persisted }) => {
		if (!persisted) return
		document.documentElement.hidden = true
		const known = client.getQueryData(sessionQuery.queryKey)
		if (known && (await isStill(known.sessionId).catch(() => false))) document.documentElement.hidden = false
		else location.reload()
	})
}
