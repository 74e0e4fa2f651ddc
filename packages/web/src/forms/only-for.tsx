import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import { EmptyState } from '../ui/empty-state.tsx'

interface OnlyForProps {
	readonly need: 'manager' | 'admin'
	/** Whether it is where a record is created. */
	readonly toCreate?: boolean
	readonly children: ReactNode
}

const whole = { manager: 'This is for managers and admins', admin: 'This is for admins' }
const creating = { manager: 'Only a manager or an admin can create one', admin: 'Only an admin can create one' }

/** What only a role sees; it says so to the others. */
export function OnlyFor({ need, toCreate = false, children }: OnlyForProps) {
	if (useSession().is(need)) return children
	return (
		<EmptyState icon={<ShieldAlert />} title={(toCreate ? creating : whole)[need]}>
			Ask an admin of your organization when you need it.
		</EmptyState>
	)
}
