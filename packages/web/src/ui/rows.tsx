import type { ReactNode } from 'react'
import type { Tone } from './badge.tsx'
import './rows.css'

/** A short list of things of different kinds; a long one of the same kind is a Table. */
export const Rows = ({ label, children }: { label: string; children: ReactNode }) => (
	<ul className="rows" aria-label={label}>
		{children}
	</ul>
)

interface RowProps {
	readonly icon?: ReactNode
	readonly tone?: Tone
	/** A link in it covers the row. */
	readonly title: ReactNode
	readonly note?: ReactNode
	/** On the right: an amount or a button. */
	readonly figure?: ReactNode
}

export const Row = ({ icon, tone = 'plain', title, note, figure }: RowProps) => (
	<li>
		{icon && (
			<span className={`row-icon ${tone}`} aria-hidden="true">
				{icon}
			</span>
		)}
		<div>
			<div className="row-title">{title}</div>
			{note && <div className="row-note">{note}</div>}
		</div>
		{figure && <div className="row-figure">{figure}</div>}
	</li>
)
