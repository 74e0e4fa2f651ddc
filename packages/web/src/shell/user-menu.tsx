import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import { sessionQuery } from '../api/session.ts'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { InMenu } from '../ui/places.tsx'
import { useMenu } from '../ui/use-menu.ts'
import './user-menu.css'

const UserActions = onFirstUse(() => import('./user-actions.tsx'), InMenu)

/** Who is signed in. Its button is the browser's own, since every page loads it. */
export function UserMenu({ onKeys }: { onKeys: () => void }) {
	const { data } = useQuery({ ...sessionQuery, enabled: false })
	const { open, button, list } = useMenu()
	const name = data?.name ?? 'Account'
	return (
		<>
			<button
				type="button"
				className="button quiet"
				{...button}
				// A click without a button of a mouse is one by the keyboard.
				onClick={({ detail }) => open(detail === 0 ? 'first' : undefined)}
			>
				<span className="me-name">
					<span className="me-mark" aria-hidden="true">
						{[...name][0]}
					</span>
					<span className="me-text">{name}</span>
					<ChevronsUpDown aria-hidden="true" />
				</span>
			</button>
			{list && <UserActions {...list} onKeys={onKeys} />}
		</>
	)
}
