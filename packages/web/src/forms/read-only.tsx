import type { ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import { Banner } from '../ui/banner.tsx'

/** Who may save a form; undefined: everybody. */
export type Needed = 'manager' | 'admin' | undefined

const reasons = {
	manager: 'You can read this. Only a manager or an admin of the organization can change it.',
	admin: 'You can read this. Only an admin of the organization can change it.',
}

/** The fields of a form, which cannot be changed by a person whose role may not save them; it says why. */
export function ReadOnly({ need, children }: { need: Needed; children: ReactNode }) {
	const { is } = useSession()
	if (!need || is(need)) return children
	return (
		<>
			<Banner tone="accent">{reasons[need]}</Banner>
			<fieldset disabled className="read-only">
				{children}
			</fieldset>
		</>
	)
}
