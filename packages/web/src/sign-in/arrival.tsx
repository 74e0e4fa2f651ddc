import { useEffect, useState } from 'react'
import { describe, type Trouble } from '../api/errors.ts'
import { arrive } from '../api/session.ts'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { EntryCard } from './entry-card.tsx'
import { goIn } from './go-in.ts'

/** Of who comes back from the OpenID Connect provider, with a session. */
export function Arrival({ path }: { path: string }) {
	const [trouble, setTrouble] = useState<Trouble>()
	useEffect(() => {
		arrive().then(
			(personId) => goIn(personId, path),
			(error) => setTrouble(describe(error)),
		)
	}, [path])
	return <EntryCard title={trouble ? 'You are not signed in' : 'Signing in…'}>{trouble && <ErrorPanel {...trouble} />}</EntryCard>
}
