/*
 * Where a peer listens: TCP on an IPv4 or IPv6 address, or a name in Linux's abstract namespace
 * of Unix sockets.
 */
#ifndef IOSTUDY_ADDRESS_H
#define IOSTUDY_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_TEXT_SIZE = 120, ADDRESS_WHY_SIZE = 300 };

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
	};
	uint32_t length; /* of what is used; 0: no address */
};

/* "HOST:PORT", "[IPv6]:PORT"; a host is a number or a name. 0, or -EINVAL with why. */
int address_parse(struct address *address, const char *text, char why[ADDRESS_WHY_SIZE]);

/* TCP on 127.0.0.1, a free port; or a Unix name that nobody else has. To be listened to. */
void address_loopback(struct address *address);
void address_local(struct address *address);

/* A listening socket, the port that it was given written into the address; or -errno. */
int address_listen(struct address *address);

/* A connected socket, which sends without delay; or -errno. */
int address_connect(const struct address *address);

/* The port, host order; 0 for a Unix name. */
uint16_t address_port(const struct address *address);

/* As address_parse takes it; "unix:NAME" for a name. Returns text. */
const char *address_text(const struct address *address, char text[ADDRESS_TEXT_SIZE]);

#endif
