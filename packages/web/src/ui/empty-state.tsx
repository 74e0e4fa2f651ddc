import type { ReactNode } from 'react'
import './empty-state.css'

interface EmptyStateProps {
	readonly icon?: ReactNode
	readonly title: string
	/** What would stand here, and what it is for. */
	readonly children: ReactNode
	/** The next step. */
	readonly action?: ReactNode
}

export const EmptyState = ({ icon, title, children, action }: EmptyStateProps) => (
	<div className="empty">
		{icon && (
			<div className="empty-icon" aria-hidden="true">
				{icon}
			</div>
		)}
		<h2>{title}</h2>
		<p>{children}</p>
		{action}
	</div>
)
