import { type ReactNode, useEffect } from 'react'
import './entry-card.css'

interface EntryCardProps {
	readonly title: string
	/** A line below the title. */
	readonly note?: ReactNode
	readonly children?: ReactNode
	/** Other ways, below the card. */
	readonly below?: ReactNode
}

/** The narrow card of the pages on which nobody is signed in yet. */
export function EntryCard({ title, note, children, below }: EntryCardProps) {
	useEffect(() => {
		document.title = `${title} · Remit`
	}, [title])
	return (
		<div className="entry-card">
			<svg viewBox="0 0 32 32" width="36" height="36" aria-hidden="true">
				<rect width="32" height="32" rx="8" fill="var(--accent)" />
				<path d="M10 8h8a5 5 0 0 1 1 9.9L23 24h-4l-3.6-6H13v6h-3zm3 3v4h4.6a2 2 0 0 0 0-4z" fill="var(--on-accent)" />
			</svg>
			<header>
				<h1>{title}</h1>
				{note && <p className="entry-note">{note}</p>}
			</header>
			{children && <section className="entry-form">{children}</section>}
			{below && <footer className="entry-note">{below}</footer>}
		</div>
	)
}
