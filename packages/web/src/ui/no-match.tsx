import type { ReactNode } from 'react'
import { EmptyState } from './empty-state.tsx'

interface NoMatchProps {
	/** What was searched, such as `company`. */
	readonly kind: string
	readonly search: string
	/** Leads to the list without the search. */
	readonly clear?: ReactNode
}

export const NoMatch = ({ kind, search, clear }: NoMatchProps) => (
	<EmptyState title="No match" action={clear}>{`No ${kind} matches “${search}”.`}</EmptyState>
)
