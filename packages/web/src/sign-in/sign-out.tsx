import { useCallback, useEffect, useState } from 'react'
import { describe, type Trouble } from '../api/errors.ts'
import { signOut } from '../api/session.ts'
import { startAfresh } from '../api/session-over.ts'
import { forgetDrafts } from '../forms/draft.ts'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { EntryCard } from './entry-card.tsx'

/** Ends the session, and replaces the page with a new one. */
export function SignOut() {
	const [trouble, setTrouble] = useState<Trouble>()
	const leave = useCallback(() => {
		setTrouble(undefined)
		signOut().then(
			() => {
				forgetDrafts()
				// The same address would keep the state, and sign out again.
				history.replaceState(null, '')
				startAfresh('/sign-in')
			},
			(error) => setTrouble(describe(error)),
		)
	}, [])
	useEffect(leave, [leave])
	return (
		<EntryCard title={trouble ? 'You are still signed in' : 'Signing out…'}>
			{trouble && <ErrorPanel {...trouble} onRetry={leave} />}
		</EntryCard>
	)
}
