"""Publishers' change notifications by IndexNow and WebSub, on a separate port."""
